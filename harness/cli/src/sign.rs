//! `xs2aspec sign`: a request of one's own signed by the rules of the document, or a signed one explained.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
};

use chrono::Utc;
use reqwest::Url;
use xs2aspec_record::Exit;
use xs2aspec_runner::{Profile, profile, seal::Forms};
use xs2aspec_signing::{
    Options, RequestTarget, Signer,
    diagnosis::{self, Received},
    digest::Algorithm,
    signature_header,
    signing_string::SIGNED_HEADERS,
};

use crate::{Failure, args::Sign, target};

/// A request: what of it is signed, and what is not.
#[derive(Debug, Default)]
struct Request {
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    target: Option<RequestTarget>,
}

/// Signs, or verifies.
pub(crate) fn sign(args: &Sign) -> Result<Exit, Failure> {
    let mut request = request(args)?;
    let mut out = io::stdout().lock();
    if args.verify {
        return verify(args, &request, &mut out).map_err(Failure::input)?;
    }
    let profile = args.target.as_deref().map(target::profile).transpose()?;
    let signer = signer(args, profile.as_ref())?;
    let choices = profile.as_ref().map(|profile| profile.choices.clone()).unwrap_or_default();
    let forms = Forms::of(&choices).map_err(Failure::input)?;
    let added = complete(&mut request, args);
    let has_target = args.list.iter().any(|name| name == "(request-target)");
    let options = Options {
        listed: (!args.list.is_empty()).then(|| args.list.clone()),
        target: request.target.clone().filter(|_| has_target),
        key_id_form: forms.key_id,
        ..Options::default()
    };
    let made = signature_header::sign(&signer, &request.fields, &options).map_err(Failure::input)?;
    let mut show = || -> io::Result<()> {
        if !added.is_empty() {
            writeln!(out, "added    {}", added.join(", "))?;
        }
        writeln!(out, "keyId    {}", signer.certificate().key_id(forms.key_id))?;
        writeln!(out, "signed   with the ends of lines as \\n; there is none behind the last")?;
        writeln!(out, "  | {}\n", made.signing_string.replace('\n', "\\n\n  | "))?;
        for (name, value) in &request.fields {
            writeln!(out, "{name}: {value}")?;
        }
        writeln!(out, "TPP-Signature-Certificate: {}", signer.certificate().header_value())?;
        writeln!(out, "Signature: {}", made.value)
    };
    show().map_err(Failure::input)?;
    Ok(Exit::Conforms)
}

/// Says of each part whether it holds.
fn verify(args: &Sign, request: &Request, out: &mut impl io::Write) -> io::Result<Result<Exit, Failure>> {
    let signed = match args.signed.as_deref().map(bytes).transpose() {
        Ok(signed) => signed,
        Err(failure) => return Ok(Err(failure)),
    };
    let signed = signed.map(|signed| String::from_utf8_lossy(&signed).into_owned());
    let received = Received {
        fields: &request.fields,
        body: &request.body,
        target: request.target.as_ref(),
        signed: signed.as_deref(),
    };
    let findings = diagnosis::examine(&received);
    for finding in &findings {
        writeln!(out, "{}  {}: {}", if finding.holds { "ok" } else { "NO" }, finding.part, finding.says)?;
    }
    let holds = findings.iter().all(|finding| finding.holds);
    writeln!(
        out,
        "{}",
        if holds {
            "the request is signed as the document wants it"
        } else {
            "the request is not signed as the document wants it"
        }
    )?;
    Ok(Ok(if holds { Exit::Conforms } else { Exit::Violation }))
}

fn signer(args: &Sign, profile: Option<&Profile>) -> Result<Signer, Failure> {
    let text = |path: &Path| bytes(path);
    match (&args.key, &args.certificate, profile) {
        (Some(key), Some(certificate), _) => {
            Signer::from_pem(text(key)?, text(certificate)?).map_err(Failure::input)
        }
        (_, _, Some(profile)) => profile.signer().map_err(Failure::input),
        _ => {
            eprintln!(
                "signed with the test key that everybody knows; --key and --certificate, or --target, take another"
            );
            Signer::from_pem(profile::TEST_KEY, profile::TEST_CERTIFICATE).map_err(Failure::input)
        }
    }
}

/// Adds what a signed request has to have: Date, Digest where there is a body, X-Request-ID. The names of what was added.
fn complete(request: &mut Request, args: &Sign) -> Vec<&'static str> {
    let algorithm = if args.sha_512 { Algorithm::Sha512 } else { Algorithm::Sha256 };
    let digest = (!request.body.is_empty()).then(|| algorithm.header_value(&request.body));
    let due = [
        ("Date", Some(Utc::now().format("%a, %d %b %Y %H:%M:%S GMT").to_string())),
        ("Digest", digest),
        ("X-Request-ID", Some(uuid::Uuid::new_v4().to_string())),
    ];
    let mut added = Vec::new();
    for (name, value) in due {
        let is_there = request.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some(value) = value.filter(|_| !is_there) {
            request.fields.push((name.to_owned(), value));
            added.push(name);
        }
    }
    // Those that are made here are not taken from elsewhere.
    request.fields.retain(|(name, _)| {
        !["signature", "tpp-signature-certificate"].iter().any(|made| name.eq_ignore_ascii_case(made))
    });
    added
}

/// The request of the command line, or of a file that holds one as it goes over the wire.
fn request(args: &Sign) -> Result<Request, Failure> {
    let mut request = match &args.request {
        Some(path) => message(&bytes(path)?, path)?,
        None => Request::default(),
    };
    for header in &args.header {
        let Some((name, value)) = header.split_once(':') else {
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
        return Err(Failure::input("--verify wants the headers of a request: --header, or --request FILE"));
    }
    let repeated = SIGNED_HEADERS
        .into_iter()
        .find(|name| request.fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count() > 1);
    if let Some(name) = repeated {
        eprintln!("{name} is there several times: its values are joined with `, ` before they are signed");
    }
    Ok(request)
}

/// A request as it goes over the wire (RFC 9112 section 2.1), with LF or CRLF.
fn message(bytes: &[u8], path: &Path) -> Result<Request, Failure> {
    let wrong =
        |line: usize, what: &str| Failure::input(format!("{}:{line}: expected {what}", path.display()));
    let (head, body) = [&b"\r\n\r\n"[..], b"\n\n"]
        .into_iter()
        .filter_map(|end| {
            bytes.windows(end.len()).position(|part| part == end).map(|at| (at, at + end.len()))
        })
        .min()
        .map_or((bytes, &[][..]), |(end, body)| (&bytes[..end], &bytes[body..]));
    let head = std::str::from_utf8(head).map_err(|_| wrong(1, "a head that is text"))?;
    let mut lines = head.lines().enumerate();
    let (_, start) = lines.next().ok_or_else(|| wrong(1, "METHOD PATH HTTP/1.1"))?;
    let mut words = start.split(' ');
    let (Some(method), Some(target), Some(_)) = (words.next(), words.next(), words.next()) else {
        return Err(wrong(1, "METHOD PATH HTTP/1.1"));
    };
    let fields = lines.map(|(number, line)| {
        let (name, value) = line.split_once(':').ok_or_else(|| wrong(number + 1, "`Name: value`"))?;
        Ok((name.to_owned(), value.trim().to_owned()))
    });
    Ok(Request {
        fields: fields.collect::<Result<_, Failure>>()?,
        body: body.to_owned(),
        target: Some(RequestTarget { method: method.to_owned(), path: target.to_owned() }),
    })
}

/// The bytes of a file, or of standard input for `-`.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut read = Vec::new();
    let done = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut read).map(drop)
    } else {
        fs::read(path).map(|bytes| read = bytes)
    };
    done.map_err(|error| Failure::input(format!("{}: cannot be read: {error}", path.display())))?;
    Ok(read)
}
