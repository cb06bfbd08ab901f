//! `xs2aspec sign`: signs a request by the rules of the document, or verifies a signed one.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use chrono::Utc;
use reqwest::Url;
use xs2aspec_judge::{Profile, certificate_encoding::CertificateEncoding, profile};
use xs2aspec_record::{Exit, inputs};
use xs2aspec_report::text::harmless;
use xs2aspec_signing::{
    Options, RequestTarget, Signer,
    diagnosis::{self, Finding, Held, Received},
    digest::Algorithm,
    listed_headers, signature_header,
};
use xs2aspec_suite::SigningSpec;

use crate::{
    Failure,
    args::Sign,
    cannot_read,
    message::{Request, is_token},
    output, report, target,
};

/// Signs or verifies a request.
pub(crate) fn sign(args: &Sign) -> Result<Exit, Failure> {
    let (profiles, spec) = crate::signing_of(args.pack.as_ref())?;
    let mut request = request(args, &spec)?;
    if args.verify {
        return verify(args, &spec, &request);
    }
    let profile = args.target.as_deref().map(|target| target::profile(target, &profiles)).transpose()?;
    let signer = signer(args, profile.as_ref())?;
    let choices = profile.as_ref().map(|profile| profile.choices.clone()).unwrap_or_default();
    let encoding = CertificateEncoding::of(&choices, &spec.choices).map_err(Failure::input)?;
    encoding.fit(signer.certificate()).map_err(Failure::input)?;
    let added = complete(&mut request, args, &spec);
    let has_target = args.list.iter().any(|name| name == "(request-target)");
    let listed = if args.list.is_empty() {
        listed_headers(&spec.signed_headers, &request.fields)
    } else {
        args.list.clone()
    };
    let options = Options {
        listed,
        target: request.target.clone().filter(|_| has_target),
        key_id_form: encoding.key_id.clone(),
        ..Options::default()
    };
    let made = signature_header::sign(&signer, &request.fields, &options).map_err(Failure::input)?;
    let certificate = signer.certificate();
    if !added.is_empty() {
        note!("added    {}", added.join(", "));
    }
    note!("keyId    {}", harmless(&certificate.key_id(&encoding.key_id)));
    note!("signed   (line ends are shown as \\n; the last line has none)");
    note!("  | {}", made.signing_string.replace('\n', "\\n\n  | "));
    request.fields.extend(spec.certificate_header.map(|name| (name, certificate.header_value())));
    request.fields.push(("Signature".to_owned(), made.value));
    show(args, &request)?;
    Ok(Exit::Conforms)
}

/// Prints the headers. With `--out`, writes the whole request to a file.
fn show(args: &Sign, request: &Request) -> Result<(), Failure> {
    let Some(path) = &args.out else {
        request.fields.iter().for_each(|(name, value)| say!("{name}: {value}"));
        return Ok(());
    };
    let bytes = request
        .write()
        .ok_or_else(|| Failure::input("--out writes a whole request; pass --url for its first line"))?;
    if path == Path::new("-") {
        output::written(io::stdout().write_all(&bytes));
        return Ok(());
    }
    let file = path.display();
    let inputs = [&args.body, &args.request, &args.key, &args.certificate];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    report::write(path, &inputs, &bytes)?;
    note!("written  {file}; to verify it, run `xs2aspec sign --verify --request {file}`");
    Ok(())
}

/// Prints for each part of the signature if it is valid.
fn verify(args: &Sign, spec: &SigningSpec, request: &Request) -> Result<Exit, Failure> {
    let signed = args
        .signed
        .as_deref()
        .map(bytes)
        .transpose()?
        .map(|signed| String::from_utf8_lossy(&signed).into_owned());
    let received = Received {
        signed_headers: &spec.signed_headers,
        certificate_header: spec.certificate_header.as_deref(),
        fields: &request.fields,
        latin_1: &request.latin_1,
        body: &request.body,
        target: request.target.as_ref(),
        signed: signed.as_deref(),
    };
    let findings = diagnosis::examine(&received);
    for Finding { part, held, says, text } in &findings {
        let word = match held {
            Held::Yes => "ok",
            Held::Open => "? ",
            Held::No => "NO",
        };
        say!("{word}  {part}: {}", harmless(says));
        if let Some(text) = text {
            say!("    the signing string, with line ends shown as \\n:");
            say!("  | {}", harmless(text).replace("\\n", "\\n\n  | "));
        }
    }
    let held = findings.iter().map(|finding| finding.held).max().unwrap_or(Held::Yes);
    let (says, exit) = match held {
        Held::Yes => ("is signed as the document requires", Exit::Conforms),
        Held::Open => (
            "is signed as the document requires; a bank may accept or reject the parts marked with ?",
            Exit::Conforms,
        ),
        Held::No => ("is not signed as the document requires", Exit::Violation),
    };
    say!("the request {says}");
    Ok(exit)
}

fn signer(args: &Sign, profile: Option<&Profile>) -> Result<Signer, Failure> {
    let text = |path: &Path| bytes(path);
    match (&args.key, &args.certificate, profile) {
        (Some(key), Some(certificate), _) => {
            Signer::from_pem(text(key)?, text(certificate)?).map_err(Failure::input)
        }
        (_, _, Some(profile)) => profile.signer().map_err(Failure::input),
        _ => {
            note!(
                "signed with the public test key; to use another, pass --key and --certificate, or --target"
            );
            Signer::from_pem(profile::TEST_KEY, profile::TEST_CERTIFICATE).map_err(Failure::input)
        }
    }
}

/// Adds the headers that a signed request needs: Date, the request id, and Digest if there is a body. For a
/// file, also adds Host and Content-Length. Returns the names of the added headers.
fn complete<'a>(request: &mut Request, args: &Sign, spec: &'a SigningSpec) -> Vec<&'a str> {
    let algorithm = if args.sha_512 { Algorithm::Sha512 } else { Algorithm::Sha256 };
    let digest = (!request.body.is_empty()).then(|| algorithm.header_value(&request.body));
    let in_file = args.out.is_some();
    let host = args.url.as_ref().filter(|_| in_file).and_then(|url| authority(url));
    let length = (in_file && !request.body.is_empty()).then(|| request.body.len().to_string());
    let id = spec.request_id_header.as_deref().map(|name| (name, Some(uuid::Uuid::new_v4().to_string())));
    let due = [
        ("Host", host),
        ("Content-Length", length),
        ("Date", Some(Utc::now().format("%a, %d %b %Y %H:%M:%S GMT").to_string())),
        ("Digest", digest),
    ];
    let mut added = Vec::new();
    for (name, value) in due.into_iter().chain(id) {
        if let Some(value) = value.filter(|_| !request.has(name)) {
            request.fields.push((name.to_owned(), value));
            added.push(name);
        }
    }
    // The signature and the certificate are created here, so drop those of the input.
    let made = || ["signature"].into_iter().chain(spec.certificate_header.as_deref());
    request.fields.retain(|(name, _)| !made().any(|made| name.eq_ignore_ascii_case(made)));
    added
}

/// Returns host and port of a URL.
fn authority(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}{port}", url.host_str()?))
}

/// Returns the request from the command line, or from a file with an HTTP request.
fn request(args: &Sign, spec: &SigningSpec) -> Result<Request, Failure> {
    let mut request = match &args.request {
        Some(path) => Request::read(&bytes(path)?, path)?,
        None => Request::default(),
    };
    for header in &args.header {
        let field = header.split_once(':').filter(|(name, value)| {
            is_token(name.trim())
                && !value.trim().contains(|letter: char| letter.is_control() && letter != '\t')
        });
        let Some((name, value)) = field else {
            return Err(Failure::input(format!("--header `{header}`: expected `Name: value`")));
        };
        request.fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    if let Some(path) = &args.body {
        request.body = bytes(path)?;
    }
    if let Some(url) = &args.url {
        let parsed = Url::parse(url).map_err(|error| Failure::input(format!("--url `{url}`: {error}")))?;
        let query = parsed.query().map(|query| format!("?{query}")).unwrap_or_default();
        request.target =
            Some(RequestTarget { method: args.method.clone(), path: format!("{}{query}", parsed.path()) });
    }
    if args.verify && request.fields.is_empty() {
        return Err(Failure::input("--verify needs a signed request; pass --request FILE or --header"));
    }
    let repeated = spec
        .signed_headers
        .iter()
        .find(|name| request.fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count() > 1);
    if let Some(name) = repeated {
        note!("{name} occurs several times; its values are joined with `, ` before they are signed");
    }
    Ok(request)
}

/// Reads a file, or standard input for `-`.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") { inputs::bounded(io::stdin().lock()) } else { inputs::read(path) };
    read.map_err(|error| cannot_read(path, &error))
}
