//! Typical mistakes in a first profile. Each one ends with exit code 2 and the key to change, or the doctor
//! names the key.

use std::{fs, path::Path};

use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, date_time_ymd};
use tempfile::TempDir;
use xs2aspec_reference::{Config, Tls, start};

use crate::support::{REFERENCE, command, execute, network::Authority, printed};

/// The text to replace in a correct profile, its replacement, the exit code of the doctor, and its message.
type Mistake = (&'static str, &'static str, i32, &'static str);

/// The line of the profile before which text is added.
const TOP: &str = "name = \"reference bank\"";

const MISTAKES: [Mistake; 61] = [
    // Syntax.
    (TOP, "name = ", 2, "bank.toml:3:"),
    (TOP, "nmae = \"x\"", 2, "unknown field `nmae`; did you mean `name`?"),
    ("session-id", "sesion-id", 2, "did you mean `session-id`?"),
    ("[psu.private]", "[psu.privat]", 2, "did you mean `psu.private.id`?"),
    ("[accounts.debtor]", "[accounts.debitor]", 2, "did you mean `accounts.debtor.bban`?"),
    (TOP, "environment = \"test\"", 2, "expected `sandbox` or `production`"),
    (TOP, "deadline-ms = \"long\"", 2, "bank.toml:3:"),
    (TOP, "deadline-ms = 0", 2, "`deadline-ms` is 0: expected 1 to 300000"),
    (TOP, "connect-timeout-ms = 90000", 2, "`connect-timeout-ms` is 90000: expected 1 to 60000"),
    (TOP, "rejected-is-refusal = \"yes\"", 2, "bank.toml:3:"),
    (TOP, "http = \"3\"", 2, "unknown variant `3`"),
    ("[capabilities]", "[capabilities]\nbaskets = true", 2, "did you mean `basket`?"),
    (TOP, "limits = { per-second = 0 }", 2, "`[limits] per-second` is 0"),
    (TOP, "limits = { in-flight = 0 }", 2, "`[limits] in-flight` is 0"),
    (TOP, "limits = { retries = 11 }", 2, "`[limits] retries` is 11"),
    (TOP, "limits = { longest-wait-s = 3600 }", 2, "`[limits] longest-wait-s` is 3600"),
    (TOP, "limits = { operations = { ncbc = 1 } }", 2, "did you mean `ncbct`?"),
    (TOP, "paths = { baskets = \"/v1/a\" }", 2, "did you mean `basket`?"),
    (TOP, "paths = { basket = \"v1/a\" }", 2, "`[paths] basket` is `v1/a`"),
    (
        "[choices]",
        "[choices]\n\"payment.sucess-status\" = \"201\"",
        2,
        "did you mean `payment.success-status`?",
    ),
    (
        "\"payment.success-status\" = \"201\"",
        "\"payment.success-status\" = \"created\"",
        2,
        "\"payment.success-status\" is `created`",
    ),
    ("[choices]", "[choices]\n\"key-id.serial\" = \"decimal\"", 2, "\"key-id.serial\": expected"),
    ("[choices]", "[choices]\n\"key-id.issuer\" = \"RFC 2253\"", 2, "\"key-id.issuer\": expected `RFC 4514`"),
    (
        "[choices]",
        "[choices]\n\"key-id.issuer\" = \"L={L}\"",
        2,
        "the issuer of the certificate has no attribute for `{L}`",
    ),
    (
        "\"psu-identity.alone\" = \"accept\"",
        "\"psu-identity.alone\" = \"yes\"",
        2,
        "\"psu-identity.alone\" is `yes`: expected `accept`, `refuse`",
    ),
    ("\"https://tpp.example/return\"", "\"\"", 2, "`redirect-uri` is \"\""),
    ("\"https://tpp.example/return\"", "\" https://tpp.example/\"", 2, "without surrounding spaces"),
    // The address of the bank.
    ("base-url = \"", "base-url = \"htp", 2, "`base-url`"),
    ("base-url = \"http://", "base-url = \"", 2, "`base-url`"),
    ("base-url = \"http://", "base-url = \"http://user:canary@", 2, "`base-url`"),
    ("base-url = \"http://", "base-url = \"https://", 3, "`http://` in `base-url`"),
    ("base-url = \"http://127.0.0.1", "base-url = \"http://127.0.0.1:1#", 2, "`base-url`"),
    (TOP, "proxy = \"http://127.0.0.1:1\"", 3, "change `proxy`"),
    (TOP, "proxy = \"127.0.0.1:3128\"", 2, "`proxy`"),
    (TOP, "proxy = \"https://127.0.0.1:3128\"", 2, "only `http://` proxies are supported"),
    (TOP, "paths = { basket = \"/v1/none\" }", 3, "`[paths] basket`"),
    // The signing key.
    (TOP, "signing = { key = \"k.pem\" }", 2, "requires both `key` and `certificate`"),
    (TOP, "signing = { key = \"none.pem\", certificate = \"tpp.cert.pem\" }", 2, "`[signing] key`: "),
    (
        TOP,
        "signing = { key = \"tpp.key.pem\", certificate = \"other.cert.pem\" }",
        2,
        "`[signing]` of the target profile: the certificate does not match the private key",
    ),
    (
        TOP,
        "signing = { key = \"tpp.cert.pem\", certificate = \"tpp.cert.pem\" }",
        2,
        "`[signing]` of the target profile",
    ),
    (
        TOP,
        "signing = { key = \"expired.key.pem\", certificate = \"expired.cert.pem\" }",
        // An account is visible only to the TPP that first read it, which is the one of the profile.
        3,
        "expired on 2021-01-01; change `[signing] certificate`",
    ),
    (
        TOP,
        "signing = { key = \"pkcs8-aes.key.pem\", certificate = \"tpp.cert.pem\" }",
        2,
        "`[signing] key`: the private key has a passphrase",
    ),
    (
        TOP,
        "signing = { key = \"pkcs8-aes.key.pem\", certificate = \"tpp.cert.pem\", passphrase = { file = \"wrong\" } }",
        2,
        "`[signing] key`: cannot decrypt the private key",
    ),
    (
        TOP,
        "signing = { key = \"pkcs1-encrypted.key.pem\", certificate = \"tpp.cert.pem\" }",
        2,
        "openssl pkcs8 -topk8",
    ),
    (
        TOP,
        "signing = { pkcs12 = \"tpp.p12\", passphrase = { env = \"XS2ASPEC_NOT_SET\" } }",
        2,
        "`[signing] passphrase` is in the environment variable `XS2ASPEC_NOT_SET`",
    ),
    (TOP, "signing = { pkcs12 = \"tpp.p12\", passphrase = \"canary\" }", 2, "bank.toml:3:"),
    (
        TOP,
        "signing = { pkcs12 = \"tpp.p12\", passphrase = { file = \"wrong\" } }",
        2,
        "`[signing] pkcs12`: cannot open the PKCS#12 file",
    ),
    (
        TOP,
        "signing = { pkcs12 = \"tpp.p12\", key = \"tpp.key.pem\" }",
        2,
        "`[signing] pkcs12` contains both key and certificate",
    ),
    (
        TOP,
        "signing = { command = [\"false\"], certificate = \"tpp.cert.pem\" }",
        2,
        "the signing command failed: `false` ended",
    ),
    (
        TOP,
        "signing = { command = [\"echo\"], certificate = \"tpp.cert.pem\" }",
        2,
        "`echo` must print the RSA-SHA256 signature",
    ),
    (TOP, "signing = { command = [\"echo\"] }", 2, "`[signing] command` requires `certificate`"),
    (TOP, "tls = { key = \"tpp.key.pem\", certificate = \"other.cert.pem\" }", 2, "`[tls]`"),
    (TOP, "authorities = \"none.pem\"", 2, "`authorities`: "),
    (
        TOP,
        "headers = { X-Key = { env = \"XS2ASPEC_NOT_SET\" } }",
        2,
        "`[headers] X-Key` is in the environment variable",
    ),
    // Preparation.
    (
        TOP,
        "prepare = [{ name = \"a\", command = [\"./none\"] }]",
        2,
        "`[[prepare]]` a: `./none` cannot be run",
    ),
    (
        TOP,
        "prepare = [{ name = \"a\", command = [\"echo\", \"no json\"] }]",
        2,
        "`[[prepare]]` a: expected a JSON object as output",
    ),
    (TOP, "contact = \"${prepare.a.b}\"", 2, "bank.toml:3:12: `${prepare.a.b}`: no earlier `[[prepare]]`"),
    // Values that the bank does not know.
    ("0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e7f", "0c5d9f0e-3a4b-4c7d-8e1f-2a3b4c5d6e70", 3, "`[psu.private] id`"),
    ("https://tpp.example/return", "return", 3, "`redirect-uri`"),
    ("\"acc-private-0001\"", "\"none\"", 3, "`[transaction] account-id`"),
    ("currency = \"EUR\"", "currency = \"euro\"", 3, "`[accounts.foreign-creditor]`"),
];

/// Returns a folder with the keys that profiles name, correct and wrong ones.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let keys = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/keys"));
    for from in [keys.to_owned(), keys.join("formats")] {
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    fs::write(folder.path().join("expired.key.pem"), key.serialize_pem()).unwrap();
    fs::write(folder.path().join("expired.cert.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(folder.path().join("wrong"), "another passphrase\n").unwrap();
    folder
}

/// Runs the doctor on a profile. Returns its exit code and output.
fn doctor(folder: &TempDir, profile: &str) -> (Option<i32>, String) {
    let file = folder.path().join("bank.toml");
    fs::write(&file, profile).unwrap();
    let output = command().args(["doctor", "--target"]).arg(&file).output().unwrap();
    let said = printed(&output);
    (output.status.code(), said)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mistake_names_the_key_to_change() {
    let bank = start(Config::default()).await.unwrap();
    let right =
        REFERENCE.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {:?}", bank.base_url()));
    let folder = folder();
    tokio::task::block_in_place(|| {
        let (exit, said) = doctor(&folder, &right);
        assert_eq!(exit, Some(0), "{said}");
        for (from, to, exit, expected) in MISTAKES {
            assert!(right.contains(from), "{from}");
            let (found, said) = doctor(&folder, &right.replacen(from, to, 1));
            assert_eq!(found, Some(exit), "{to}: {said}");
            assert!(said.contains(expected), "{to}: expected {expected}\n{said}");
            assert!(!said.contains("canary"), "{said}");
        }
        let missing = command().args(["doctor", "--target", "none.toml"]).output();
        let missing = missing.unwrap();
        assert_eq!(missing.status.code(), Some(2));
        assert!(String::from_utf8(missing.stderr).unwrap().contains("cannot read none.toml"));
    });
    bank.shutdown().await.unwrap();
}

/// If no case is left to run, the message names the options that excluded the cases, and no others.
#[test]
fn a_plan_without_cases_says_what_took_them() {
    let mebibyte = "http.no-server-error/ncbct/mebibyte-in-unknown-member";
    for (arguments, says) in [
        (&["run", "--skip", "*"][..], "error: `--skip` excludes every case\n"),
        (
            &["run", "--only", "basket", "--skip", "*"],
            "error: `--skip` excludes all cases that `--only` selects\n",
        ),
        (&["run", "--only", "nothing"], "error: `--only nothing` matches no case"),
        (&["run", "--skip", "nothing"], "error: `--skip nothing` matches no case"),
        (
            &["run", "--only", mebibyte],
            "error: none of the selected cases runs at depth standard: http.no-server-error/ncbct/mebibyte-in-unknown-member: it \
             runs at depth exhaustive only\n",
        ),
        (&["list", "nothing"], "error: `nothing` matches no case"),
        (
            &["list", mebibyte, "--depth", "standard"],
            "error: none of the selected cases runs at depth standard: ",
        ),
    ] {
        let output = execute(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with(says), "{arguments:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_mistake_about_tls_names_the_key_to_change() {
    let (servers, clients, others) = (Authority::new(), Authority::new(), Authority::new());
    let (certificates, key) = servers.gives();
    let tls = Tls { certificates, key, client_authorities: Some(clients.pem()), client_required: true };
    let bank = start(Config { tls: Some(tls), ..Config::default() }).await.unwrap();
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    for (name, authority) in [("own", &clients), ("foreign", &others)] {
        let (certificate, key) = authority.gives();
        write(&format!("{name}.cert.pem"), &certificate);
        write(&format!("{name}.tls-key.pem"), &key);
    }
    write("servers.pem", &servers.pem());
    write("others.pem", &others.pem());
    let shown =
        |name: &str| format!("tls = {{ key = \"{name}.tls-key.pem\", certificate = \"{name}.cert.pem\" }}\n");
    let by = |scheme: &str, authorities: &str, tls: &str| {
        let url = bank.base_url().replacen("https", scheme, 1);
        let text = format!("authorities = \"{authorities}.pem\"\n{tls}{REFERENCE}");
        doctor(&folder, &text.replace("base-url = \"http://127.0.0.1\"", &format!("base-url = {url:?}")))
    };
    tokio::task::block_in_place(|| {
        let (exit, said) = by("https", "servers", &shown("own"));
        assert_eq!(exit, Some(0), "{said}");
        for (scheme, authorities, tls, expected) in [
            ("https", "servers", String::new(), "`[tls]`"),
            ("https", "servers", shown("foreign"), "`[tls]`"),
            ("https", "others", shown("own"), "`authorities`"),
            ("http", "servers", shown("own"), "`https://` in `base-url`"),
        ] {
            let (exit, said) = by(scheme, authorities, &tls);
            assert_eq!(exit, Some(3), "{said}");
            assert!(said.contains(expected), "{scheme} {authorities} {tls}: {said}");
        }
        assert_eq!(by("https", "tpp.key", "").0, Some(2), "an authority that is none");
    });
    bank.shutdown().await.unwrap();
}
