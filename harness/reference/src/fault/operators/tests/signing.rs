//! Requests with each spelling and each error of Digest and Signature.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use sha2::{Digest as _, Sha256, Sha512};
use std::sync::OnceLock;
use xs2aspec_bank::operation::Operation;

use super::probe::{Probe, SIGNED, bodies, header, key_id, sign};
use crate::rules::is_of_every_second;
use crate::test_certificate::{ISSUER, Signer, signer};

/// Returns requests that show faults of Digest or signature in an operation.
pub(super) fn probes(operation: Operation) -> Vec<Probe> {
    let full = Probe::full(operation);
    let plain = match bodies(operation).first() {
        Some(body) => full.with_body(body),
        None => full,
    };
    let mut probes = signatures(&plain);
    if operation.creates_payment() {
        probes.extend(digests(&plain));
    }
    probes
}

fn stranger() -> &'static Signer {
    static STRANGER: OnceLock<Signer> = OnceLock::new();
    STRANGER.get_or_init(Signer::generate)
}

fn signatures(plain: &Probe) -> Vec<Probe> {
    let list = plain.list();
    let signed = |list: &str| sign(&plain.signing_string(list), signer());
    let right = signed(&list);
    let foreign = sign(&plain.signing_string(&list), stranger());
    let usual = header(&key_id(), &list, &right);
    let by = |text: &str| plain.clone().signed_by(text);
    let of_list = |list: &str, signature: &str| by(&header(&key_id(), list, signature));
    let mut probes = vec![by(&usual), of_list(&list, &foreign), of_list(&list, ""), of_list(&list, "!!!")];
    probes.push(of_list(&list, &format!("{}AAAA", &right[..right.len() - 4])));
    probes.push(of_list(&list, &right[..right.len() / 2]));
    probes.push(of_list(&list, &sign(&format!("{}\n", plain.signing_string(&list)), signer())));
    probes.push(of_list(&list, &URL_SAFE.encode(STANDARD.decode(&right).unwrap())));
    // A value that changes after signing, and one with spaces around it.
    probes.push(by(&usual).with("x-request-id", "another"));
    probes.push(by(&usual).with("x-request-id", &format!(" {} ", plain.header("x-request-id").unwrap())));
    let more = format!("{list} x-never-sent");
    probes.extend([of_list(&more, &right), of_list(&more, &signed(&more))]);
    for name in SIGNED.into_iter().filter(|name| plain.header(name).is_some()) {
        let names: Vec<&str> = list.split(' ').filter(|one| *one != name).collect();
        let fewer = names.join(" ");
        probes.push(of_list(&fewer, &signed(&fewer)));
        // Listed, but not signed.
        probes.push(of_list(&list, &signed(&fewer)));
    }
    let turned: Vec<&str> = list.split(' ').rev().collect();
    for other in [
        turned.join(" "),
        list.to_uppercase(),
        format!("(request-target) {list}"),
        format!("{list} host psu-ip-address"),
        list.replace("date ", ""),
    ] {
        probes.extend([of_list(&other, &signed(&other)), of_list(&other, &foreign)]);
    }
    probes.extend(otherwise_read(plain));
    let without_date = plain.clone().without("date");
    let short = without_date.list();
    let of_short = |signature: &str| without_date.clone().signed_by(&header(&key_id(), &short, signature));
    probes.extend([of_short(&sign(&without_date.signing_string(&short), signer())), of_short(&foreign)]);
    probes.extend(key_ids(&usual).iter().map(|text| by(text)));
    probes.extend(parameters(&usual, &signed("date")).iter().map(|text| by(text)));
    probes.extend(wrapped(&usual).iter().map(|text| by(text)));
    let certificate = signer().certificate_base64();
    probes.push(by(&usual).with("tpp-signature-certificate", &format!("{certificate} more")));
    probes.push(by(&usual).with("tpp-signature-certificate", &stranger().certificate_base64()));
    probes
}

/// Returns requests whose signing string a faulty bank may build differently.
fn otherwise_read(plain: &Probe) -> Vec<Probe> {
    let signed = |probe: Probe, more: &str| {
        let list = format!("{}{more}", probe.list());
        let signature = sign(&probe.signing_string(&list), signer());
        probe.signed_by(&header(&key_id(), &list, &signature))
    };
    let ids = (0..9).map(|n| format!("probe  {n}"));
    let id = ids.into_iter().find(|id| is_of_every_second(id.as_bytes())).unwrap();
    let mark = if plain.path.contains('?') { '&' } else { '?' };
    vec![
        signed(plain.clone().with("x-request-id", &id), ""),
        signed(plain.clone().and("accept-language", "en"), " accept-language"),
        signed(plain.clone().with("host", "localhost:81"), " host"),
        signed(plain.clone().at(&format!("{}{mark}synthetic=%74", plain.path)), " (request-target)"),
    ]
}

fn key_ids(usual: &str) -> Vec<String> {
    let own = key_id();
    let name = ISSUER.split(',').next().unwrap_or_default();
    let part = ISSUER.split(',').take(2).collect::<Vec<_>>().join(",");
    let serial = u32::from_str_radix(own[3..].split(',').next().unwrap(), 16).unwrap();
    let others = [
        "x".to_owned(),
        own.replace("SN=0", "SN=1"),
        own.replace(ISSUER, "CN=Another CA,O=Another AS,C=NO"),
        own.replace(ISSUER, "CN=Synthetic TPP,O=Synthetic TPP AS,C=NO"),
        own.replace(ISSUER, name),
        own.replace(ISSUER, &part),
        own.replacen(own[3..].split(',').next().unwrap(), &serial.to_string(), 1),
    ];
    others.iter().map(|other| usual.replace(&own, other)).collect()
}

fn parameters(usual: &str, of_date: &str) -> Vec<String> {
    let parts: Vec<&str> = usual.split("\",").collect();
    let without = |name: &str| {
        let rest: Vec<&str> = parts.iter().copied().filter(|part| !part.starts_with(name)).collect();
        let text = rest.join("\",");
        if text.ends_with('"') { text } else { format!("{text}\"") }
    };
    let signature = usual.split("signature=\"").nth(1).unwrap_or_default();
    let no_list =
        format!("{}\"{of_date}\"", without("headers").split('"').take(5).collect::<Vec<_>>().join("\""));
    let mut texts = vec![
        "nonsense".to_owned(),
        without("keyId"),
        without("signature"),
        without("headers"),
        without("headers").replace(signature, &format!("{of_date}\"")),
        no_list,
        format!("{usual},unknown=\"x\""),
        format!("signature=\"AAAA\",{usual}"),
        format!("{usual},signature=\"AAAA\""),
        usual.replace("\",", "\" , ").replace("=\"", " = \""),
    ];
    texts.extend(
        ["ecdsa-sha256", "rsa-sha1", "hs2019", "rsa-sha512", "none"]
            .map(|name| usual.replace("rsa-sha256", name)),
    );
    texts
}

fn wrapped(usual: &str) -> Vec<String> {
    let base64 = STANDARD.encode(usual);
    let quoted: Vec<String> = usual.bytes().map(|byte| format!("={byte:02X}")).collect();
    let q = quoted.concat();
    // `origin="Ås",` in ISO-8859-1, as base64.
    let letter = format!("b3JpZ2luPSLFcyIs{base64}");
    vec![
        format!("=?iso-8859-1?B?{letter}?="),
        format!("=?utf-8?B?{base64}?="),
        format!("=?utf-8?Q?{q}?="),
        format!("=?iso-8859-1?B?{base64}?="),
        format!("=?UTF-8?B?{base64}?="),
        format!("=?utf-8?b?{base64}?="),
    ]
}

fn digests(plain: &Probe) -> Vec<Probe> {
    let sha_256 = STANDARD.encode(Sha256::digest(plain.bytes()));
    let sha_512 = STANDARD.encode(Sha512::digest(plain.bytes()));
    let wrong = STANDARD.encode(Sha256::digest("another"));
    let hexadecimal = format!("{:x}", Sha256::digest(plain.bytes()));
    let with = |value: String| plain.clone().with("digest", &value);
    let near = |at: usize| {
        let mut hash = Sha256::digest(plain.bytes());
        hash[at] ^= 1;
        format!("SHA-256={}", STANDARD.encode(hash))
    };
    // Changing the case of the last letter could make the base64 invalid.
    let mut other_case = sha_256.clone().into_bytes();
    *other_case.iter_mut().find(|byte| byte.is_ascii_alphabetic()).unwrap() ^= 0x20;
    let mut probes: Vec<Probe> = [
        format!("SHA-256={wrong}"),
        format!("SHA-512={sha_512}"),
        format!("sha-256={sha_256}"),
        format!("SHA-256={hexadecimal}"),
        format!("SHA-256={}", &sha_256[..20]),
        "SHA-256=!!!".to_owned(),
        format!("SHA-256={}", String::from_utf8(other_case).unwrap()),
        near(0),
        near(31),
        sha_256.clone(),
        "MD5=1B2M2Y8AsgTpgAmY7PhCfg==".to_owned(),
        "SHA=2jmj7l5rSw0yVb/vlWAYkK/YBwk=".to_owned(),
        "CRC32=AAAAAA==".to_owned(),
        format!("SHA-256={sha_256},SHA-512={sha_512}"),
        format!("SHA-256={sha_256},SHA-512={wrong}"),
        format!("SHA-512={wrong},SHA-256={sha_256}"),
        format!("SHA-256={wrong},SHA-256={sha_256}"),
        format!("SHA-256={sha_256},SHA-256={wrong}"),
    ]
    .into_iter()
    .map(with)
    .collect();
    let spaced = [b"  ", plain.bytes(), b" \n"].concat();
    let inside = String::from_utf8_lossy(plain.bytes()).replace(':', " : ").into_bytes();
    probes.extend([plain.clone().with_bytes(spaced), plain.clone().with_bytes(inside)]);
    probes.push(plain.clone().with_bytes([" ".repeat(5000).as_bytes(), plain.bytes()].concat()));
    let in_chunks = plain.clone().with("transfer-encoding", "chunked");
    probes.push(in_chunks.with("digest", &format!("SHA-256={wrong}")));
    probes
}
