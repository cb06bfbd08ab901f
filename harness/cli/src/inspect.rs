//! `xs2aspec keys show`: shows a certificate and the keyId derived from it.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use xs2aspec_judge::certificate_encoding::CertificateEncoding;
use xs2aspec_record::{Exit, inputs};
use xs2aspec_report::text::harmless;
use xs2aspec_signing::{
    Certificate, KeyIdForm,
    certificate::{NameForm, SerialForm},
    name::Name,
    qualified::Role,
};

use crate::{Failure, args::KeysShow, cannot_read, target};

/// Prints everything that a bank checks, the keyId last.
pub(crate) fn inspect(args: &KeysShow) -> Result<Exit, Failure> {
    let path = args.file.display();
    let bytes = inputs::read(&args.file).map_err(|error| cannot_read(&args.file, &error))?;
    let is_pem = bytes.windows(11).any(|part| part == b"-----BEGIN ");
    let read = if is_pem {
        Certificate::all_from_pem(&bytes)
    } else {
        Certificate::from_der(bytes).map(|certificate| vec![certificate])
    };
    let all = read.map_err(|error| Failure::input(format!("{path}: {error}")))?;
    for (at, certificate) in all.iter().enumerate() {
        if all.len() > 1 {
            let authority = if certificate.is_authority() { ", of a CA" } else { "" };
            say!("certificate {} of {}{authority}", at + 1, all.len());
        }
        one(args, certificate)?;
    }
    Ok(Exit::Conforms)
}

/// Prints one certificate.
fn one(args: &KeysShow, certificate: &Certificate) -> Result<(), Failure> {
    let day = |time: SystemTime| DateTime::<Utc>::from(time).format("%Y-%m-%d %H:%M:%S UTC");
    let (from, until) = certificate.validity();
    let now = SystemTime::now();
    let state = if now > until {
        " (expired)"
    } else if now < from {
        " (not yet valid)"
    } else {
        ""
    };
    say!("subject          {}", harmless(&certificate.subject().write(&NameForm::Rfc4514)));
    numbered(&certificate.subject());
    if let Some(id) = certificate.organisation_identifier() {
        say!("organisation id  {}", harmless(&id));
    }
    say!("valid            {} to {}{state}", day(from), day(until));
    match certificate.rsa_bits() {
        Some(bits) => say!("key              RSA, {bits} bits"),
        None => say!("key              not an RSA key; it cannot sign with rsa-sha256"),
    }
    let (serial, decimal) = (certificate.serial_hex(), certificate.serial_decimal());
    if certificate.has_negative_serial() {
        let der = certificate.serial(&SerialForm::Signed);
        say!(
            "serial number    {serial}, as DER: {der} (decimal {decimal}); RFC 5280 section 4.1.2.2 requires a positive number"
        );
    } else {
        say!("serial number    {serial} (decimal {decimal})");
    }
    let issuer = certificate.issuer();
    for form in NameForm::ALL {
        say!("issuer           {}   [{form}]", harmless(&issuer.write(&form)));
    }
    numbered(&issuer);
    if !issuer.write(&NameForm::Rfc4514).is_ascii() {
        say!("                 not ASCII; a Signature header that names it is an encoded-word (RFC 2047)");
    }
    statements(certificate);
    let (profiles, spec) = crate::signing_of(args.pack.as_ref())?;
    if let Some(header) = &spec.certificate_header {
        say!("header           {header}: {} characters of base64", certificate.header_value().len());
    }
    let declared = args.target.as_deref().map(|target| target::profile(target, &profiles)).transpose()?;
    if let Some(profile) = declared {
        let encoding = CertificateEncoding::of(&profile.choices, &spec.choices).map_err(Failure::input)?;
        encoding.fit(certificate).map_err(Failure::input)?;
        let key_id = harmless(&certificate.key_id(&encoding.key_id));
        say!("keyId            {key_id}   [as declared by {}]", profile.name);
        return Ok(());
    }
    let mut shown = Vec::new();
    for serial in SerialForm::ALL {
        for issuer in NameForm::ALL {
            let form = KeyIdForm { serial: serial.clone(), issuer };
            let usual = if form == KeyIdForm::default() { "   <- usual" } else { "" };
            let key_id = harmless(&certificate.key_id(&form));
            if !shown.contains(&key_id) {
                say!("keyId            {key_id}{usual}");
                shown.push(key_id);
            }
        }
    }
    let choices = [&spec.choices.serial, &spec.choices.issuer].into_iter().flatten();
    let keys: Vec<String> = choices.map(|choice| format!("\"{}\"", choice.key)).collect();
    if !keys.is_empty() {
        say!("                 declare the form in the profile: {} of [choices]", keys.join(" and "));
    }
    Ok(())
}

/// Prints the attributes of a name that RFC 4514 writes as a number and an encoding.
fn numbered(name: &Name) {
    for one in name.attributes().filter(|one| !one.has_key_word()) {
        let value = one.text().map_or_else(|| one.encoded(), |text| format!("{text:?}"));
        let value = harmless(&value);
        say!("                 {} is {}: {value}", one.kind(), one.known_as());
    }
}

fn statements(certificate: &Certificate) {
    let statements = match certificate.statements() {
        None => return say!("roles            none; the certificate has no qcStatements (ETSI TS 119 495)"),
        Some(Err(error)) => return say!("roles            cannot read the qcStatements: {error}"),
        Some(Ok(statements)) => statements,
    };
    let qualified =
        if statements.is_qualified { "declared as qualified" } else { "not declared as qualified" };
    say!("for              {}; {qualified}", statements.types.join(", "));
    for role in &statements.roles {
        let known = Role::ALL.into_iter().find(|known| known.name() == role);
        say!("role             {role} ({})", known.map_or("not a role of ETSI TS 119 495", Role::says));
    }
    if let Some((name, id)) = &statements.authority {
        say!("authority        {} ({})", harmless(name), harmless(id));
    }
}
