//! Foreign input is data: a pack, a case file, a record, an archive, a response. None of them can run a
//! command, read a variable or a file outside its folder, choose a host, or give consent.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{runtime::Handle, task::block_in_place};
use wiremock::{MockServer, Request, ResponseTemplate};

use crate::support::{ANY_BANK, REFERENCE, command, printed, stub};

/// The repository, with its cases and packs.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The effects that no input may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Command,
    Variable,
    File,
    Host,
    Consent,
}

/// The user's folder, the user's target, and a server and a file that foreign input must not reach.
struct World {
    folder: TempDir,
    target: MockServer,
    elsewhere: MockServer,
}

impl World {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("secret.txt"), "CANARYFILE\n").unwrap();
        let unknown = || ResponseTemplate::new(404);
        let (target, elsewhere) = (stub::server(unknown()).await, stub::server(unknown()).await);
        let profile = format!("base-url = {:?}\n{ANY_BANK}", target.uri());
        fs::write(folder.path().join("bank.toml"), profile).unwrap();
        Self { folder, target, elsewhere }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Replaces the placeholders of a table with the values of this world.
    fn filled(&self, text: &str) -> String {
        let elsewhere = self.elsewhere.uri();
        let authority = elsewhere.trim_start_matches("http://");
        let port = authority.rsplit_once(':').unwrap().1;
        let text = text.replace("ELSEWHERE", &elsewhere).replace("AUTHORITY", authority);
        text.replace("PORT", port).replace("SECRET", self.path("secret.txt").to_str().unwrap())
    }

    /// Runs the program in the user's folder, and checks that none of the effects occurred.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = block_in_place(|| {
            let mut command = command();
            command.current_dir(self.folder.path()).env("CANARY", "CANARYVARIABLE");
            command.args(arguments).output().unwrap()
        });
        let said = printed(&output);
        let owned = walk(self.folder.path()).into_iter().find(|path| path.ends_with("OWNED"));
        assert_eq!(owned, None, "{arguments:?} ran a command: {said}");
        assert_eq!(arrived(&self.elsewhere), 0, "{arguments:?} sent something elsewhere: {said}");
        for canary in ["CANARYVARIABLE", "CANARYFILE"] {
            assert!(!said.contains(canary), "{arguments:?} read {canary}: {said}");
        }
        (output.status.code(), said)
    }
}

/// Returns the number of requests that a server received.
fn arrived(server: &MockServer) -> usize {
    block_in_place(|| Handle::current().block_on(stub::received(server)))
}

/// Returns all files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    for file in walk(from) {
        let to = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
}

/// Lines that a pack may contain above and below its values for any bank, with the effect to prevent.
const OF_PACK: [(Effect, &str, &str); 14] = [
    (Effect::Command, "", "[[prepare]]\nname = \"x\"\ncommand = [\"touch\", \"OWNED\"]"),
    (Effect::Command, "signing = { certificate = \"c.pem\", command = [\"touch\", \"OWNED\"] }", ""),
    (Effect::Variable, "", "[headers]\nX-Key = { env = \"CANARY\" }"),
    (Effect::Variable, "", "[signing.passphrase]\nenv = \"CANARY\""),
    (Effect::Variable, "office.id = { env = \"CANARY\" }", ""),
    (Effect::File, "", "[headers]\nX-Key = { file = \"SECRET\" }"),
    (Effect::File, "authorities = \"SECRET\"", ""),
    (Effect::File, "", "[tls]\nkey = \"SECRET\"\ncertificate = \"SECRET\""),
    (Effect::Host, "base-url = \"ELSEWHERE\"", ""),
    (Effect::Host, "proxy = \"ELSEWHERE\"", ""),
    (Effect::Host, "", "[paths]\noffices = \"//AUTHORITY/v2\""),
    (Effect::Consent, "environment = \"sandbox\"", ""),
    (Effect::Consent, "environment = \"production\"\nconfirm-production = \"ELSEWHERE\"", ""),
    (Effect::Consent, "", "[limits]\nper-second = 1000"),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_gives_values_and_does_nothing() {
    let world = World::new().await;
    let pack = Path::new(ROOT).join("fixtures/packs/parcels");
    let values = fs::read_to_string(pack.join("fixtures/spec/any-bank.toml")).unwrap();
    let url = world.target.uri();
    let commands: [&[&str]; 5] = [
        &["explain", "header.refusal", "--pack", "data"],
        &["run", "--pack", "data", "--target", &url, "--only", "hand-over.path", "--out", "out"],
        &["doctor", "--pack", "data", "--target", &url],
        &["curl", "hand-over.path/plain", "--pack", "data", "--target", &url],
        &["judge", "traffic.http", "--pack", "data", "--target", &url, "--out", "judged"],
    ];
    world.write("traffic.http", "GET /v2/x HTTP/1.1\nHost: b\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\n{}\n");
    // Each command reads the pack differently, so the commands take turns.
    for ((effect, above, below), arguments) in OF_PACK.into_iter().zip(commands.into_iter().cycle()) {
        copy(&pack, &world.path("data"));
        let text = world.filled(&format!("{above}\n{values}\n{below}\n"));
        world.write("data/fixtures/spec/any-bank.toml", &text);
        let (exit, said) = world.run(arguments);
        assert_eq!(exit, Some(2), "{effect:?} {arguments:?}: {said}");
        assert!(said.contains("data/fixtures/spec/any-bank.toml:"), "{effect:?} {arguments:?}: {said}");
        // The template of a profile must not contain them, either. Commented lines are for the user to
        // enable.
        world.write("data/fixtures/spec/any-bank.toml", &values);
        world.write("data/fixtures/spec/template.toml", &text);
        if effect != Effect::Host || !above.starts_with("base-url") {
            let (exit, said) = world.run(&["init", "mine.toml", "--ask", "--pack", "data"]);
            assert_eq!(exit, Some(2), "{effect:?}: {said}");
            assert!(said.contains("data/fixtures/spec/template.toml:"), "{effect:?}: {said}");
            assert!(!world.path("mine.toml").exists());
        }
    }
    assert_eq!(arrived(&world.target), 0, "an error comes before the first request");
    // A pack cannot consent to a remote machine without the user.
    copy(&pack, &world.path("data"));
    let other = "http://[::ffff:127.0.0.1]:1";
    let (exit, said) = world.run(&["run", "--pack", "data", "--target", other, "--out", "out"]);
    assert!(exit == Some(2) && said.contains("refusing to send requests"), "{said}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_link_leads_nowhere_from_a_pack() {
    let world = World::new().await;
    let pack = Path::new(ROOT).join("fixtures/packs/parcels").canonicalize().unwrap();
    for linked in ["cases", "cases/parcels", "fixtures", "fixtures/spec", "fixtures/spec/interface.md"] {
        let data = world.path(&linked.replace('/', "-"));
        copy(&pack, &data);
        let link = data.join(linked);
        let removed = if link.is_dir() { fs::remove_dir_all(&link) } else { fs::remove_file(&link) };
        removed.unwrap();
        std::os::unix::fs::symlink(pack.join(linked), &link).unwrap();
        let (exit, said) = world.run(&["lint", "--pack", data.to_str().unwrap()]);
        let missing = if linked == "cases/parcels" { "clause `parcel." } else { ": missing: a pack needs" };
        assert!(exit == Some(2) && said.contains(missing), "{linked}: {said}");
    }
}

/// Entries of a case file for a request. Each is rejected with its place before anything is sent.
const OF_CASE: [(Effect, &str); 15] = [
    (Effect::Host, "{set: path, to: '@AUTHORITY/v1/payments'}"),
    (Effect::Host, "{set: path, to: ':x@AUTHORITY/v1/payments'}"),
    (Effect::Host, "{set: path, to: '//AUTHORITY/v1/payments'}"),
    (Effect::Host, "{set: path, to: '/\\AUTHORITY/v1/payments'}"),
    (Effect::Host, "{set: path, to: '\\\\AUTHORITY/v1/payments'}"),
    (Effect::Host, "{set: path, to: 'ELSEWHERE/v1/payments'}"),
    (Effect::Host, "{set: path, to: '.example/v1/payments'}"),
    (Effect::Host, "{set: path, to: '/v1/../../admin'}"),
    (Effect::Host, "{set: path, to: '/v1/%2e%2E/admin'}"),
    (Effect::Host, "{set: path, to: '${target.redirect-uri}/v1'}"),
    (Effect::Variable, "{set: header/X-Key, to: '${env.CANARY}'}"),
    (Effect::File, "{set: header/X-Key, to: '${file.SECRET}'}"),
    (Effect::Command, "{set: header/X-Key, to: '${command.touch}'}"),
    (Effect::Command, "{set: header/X-Key, to: '${prepare.x.y}'}"),
    (Effect::Consent, "{set: environment, to: sandbox}"),
];

fn case_file(change: &str) -> String {
    format!(
        "title: x\ncases:\n  - {{clause: ncbct.path, name: plain, baseline: ncbct, expect: accepted}}\n  - clause: ncbct.path\n    name: evil\n    baseline: ncbct\n    control: ncbct.path/plain\n    expect: answered\n    change: [{change}]\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_file_changes_a_request_and_nothing_else() {
    let world = World::new().await;
    let commands: [&[&str]; 5] = [
        &["lint", "--cases", "data"],
        &["explain", "ncbct.path/evil", "--cases", "data", "--target", "bank.toml"],
        &["curl", "ncbct.path/evil", "--cases", "data", "--target", "bank.toml"],
        &["run", "--only", "ncbct.path/evil", "--cases", "data", "--target", "bank.toml", "--out", "out"],
        &["doctor", "--cases", "data", "--target", "bank.toml"],
    ];
    // Each command reads the case file differently, so the commands take turns.
    for ((effect, change), arguments) in OF_CASE.into_iter().zip(commands.into_iter().cycle()) {
        world.write("data/bodies/p.yaml", &world.filled(&case_file(change)));
        let (exit, said) = world.run(arguments);
        assert_eq!(exit, Some(2), "{effect:?} {change} {arguments:?}: {said}");
        assert!(said.contains("data/bodies/p.yaml:"), "{effect:?} {change} {arguments:?}: {said}");
    }
    assert_eq!(arrived(&world.target), 0);
    // A request with its own Host header goes to the target, whose address comes from the profile.
    world.write("data/bodies/p.yaml", &world.filled(&case_file("{set: header/Host, to: 'AUTHORITY'}")));
    let (_, said) = world.run(commands[3]);
    assert!(arrived(&world.target) > 0, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_names_no_file_and_no_target_that_a_run_goes_on_with() {
    let world = World::new().await;
    let (exit, said) =
        world.run(&["run", "--only", "ncbct.path/plain", "--target", "bank.toml", "--out", "out"]);
    let record =
        crate::support::read_record(world.path("out/record.jsonl")).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(exit, Some(3), "{said}");
    let (start, rest) = record.split_once('\n').unwrap();
    let profile = fs::read_to_string(world.path("bank.toml")).unwrap();
    let prepare = "[[prepare]]\nname = \"x\"\ncommand = [\"touch\", \"OWNED\"]\n";
    world.write("data/command.toml", &format!("{profile}{prepare}"));
    world.write("data/variable.toml", &format!("{profile}[headers]\nX-Key = {{ env = \"CANARY\" }}\n"));
    world.write("data/file.toml", &format!("{profile}[headers]\nX-Key = {{ file = \"../secret.txt\" }}\n"));
    world.write("data/host.toml", &profile.replace(&world.target.uri(), &world.elsewhere.uri()));
    world.write("data/consent.toml", &format!("environment = \"sandbox\"\n{profile}"));
    let elsewhere = world.elsewhere.uri();
    let before = arrived(&world.target);
    let table: [(Effect, &[&str], &str); 9] = [
        (Effect::Command, &["--target", "data/command.toml"], "--target"),
        (Effect::Variable, &["--target", "data/variable.toml"], "--target"),
        (Effect::File, &["--target", "data/file.toml"], "--target"),
        (Effect::Host, &["--target", "data/host.toml"], "--target"),
        (Effect::Host, &["--target", elsewhere.as_str()], "--target"),
        (Effect::Consent, &["--target", "data/consent.toml"], "--target"),
        (Effect::File, &["--pack", "secret.txt"], "--pack"),
        (Effect::File, &["--cases", "secret.txt"], "--cases"),
        (Effect::File, &["--waivers", "secret.txt"], "--waivers"),
    ];
    for (effect, arguments, option) in table {
        let mut start: Value = serde_json::from_str(start).unwrap();
        start["arguments"] = serde_json::json!(arguments);
        for rest in [rest, ""] {
            world.write("data/record.jsonl", &format!("{start}\n{rest}"));
            let (exit, said) = world.run(&["run", "--resume", "data"]);
            assert_eq!(exit, Some(2), "{effect:?} {arguments:?}: {said}");
            // Another check may reject the record first.
            let is_named = said.contains(&format!("`{option} ")) && said.contains("again");
            assert!(is_named || said.contains("record"), "{effect:?} {arguments:?}: {said}");
        }
        // Commands that read a record read no other file and send nothing.
        world.write("data/record.jsonl", &format!("{start}\n{rest}"));
        for reader in [
            &["report", "data", "--format", "terminal"][..],
            &["rejudge", "data"],
            &["diff", "data", "out"],
            &["merge", "data", "--out", "merged"],
        ] {
            world.run(reader);
        }
    }
    assert_eq!(arrived(&world.target), before, "nothing is sent for somebody else's record");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_is_judged_and_nothing_of_it_is_fetched() {
    let world = World::new().await;
    let entry = |content: &str| {
        let request = r#""request":{"method":"GET","url":"ELSEWHERE/v1/sandbox/customers","httpVersion":"HTTP/1.1","headers":[{"name":"Host","value":"AUTHORITY"},{"name":"X-Key","value":"${env.CANARY}"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0}"#;
        let response = format!(
            r#""response":{{"status":302,"statusText":"Found","httpVersion":"HTTP/1.1","headers":[{{"name":"Location","value":"ELSEWHERE/"}}],"redirectURL":"ELSEWHERE/","cookies":[],"headersSize":-1,"bodySize":-1,"content":{content}}}"#
        );
        let timing = r#""startedDateTime":"2030-01-31T12:00:00Z","time":1,"cache":{},"timings":{"send":0,"wait":1,"receive":0}"#;
        world.filled(&format!(
            r#"{{"log":{{"version":"1.2","creator":{{"name":"a","version":"1"}},"entries":[{{{timing},{request},{response}}}]}}}}"#
        ))
    };
    let contents: [(Effect, &str); 5] = [
        (Effect::Host, r#"{"size":0,"mimeType":"text/html","text":"<img src=\"ELSEWHERE/\">"}"#),
        (Effect::File, r#"{"size":10,"mimeType":"application/json","_file":"../secret.txt"}"#),
        (Effect::File, r#"{"size":10,"mimeType":"application/json","text":"file://SECRET"}"#),
        (Effect::Variable, r#"{"size":10,"mimeType":"application/json","text":"${env.CANARY}"}"#),
        (Effect::Command, r#"{"size":10,"mimeType":"application/json","text":"$(touch OWNED)"}"#),
    ];
    for (effect, content) in contents {
        world.write("data/t.har", &entry(content));
        for more in [&[][..], &["--target", "bank.toml"]] {
            let arguments = [&["judge", "data/t.har", "--out", "judged"], more].concat();
            let (exit, said) = world.run(&arguments);
            assert!(exit.is_some_and(|exit| exit != 2), "{effect:?}: {said}");
            let record = crate::support::read_record(world.path("judged/record.jsonl")).unwrap();
            assert!(!record.contains("CANARYFILE") && !record.contains("CANARYVARIABLE"), "{effect:?}");
        }
    }
    assert_eq!(arrived(&world.target), 0, "traffic is judged, and nothing is sent");
}

/// Whatever ids, links and redirects responses contain, each request stays below the base URL, on a path of
/// the document.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_leads_nowhere_else() {
    let world = World::new().await;
    let ids = ["", ".", "..", "../../..", "%2e%2e", "/", "\\", "a\r\nHost: other.example", "ok-1"];
    let links = [
        "ELSEWHERE/xs2a/v1/a",
        "//AUTHORITY/xs2a/v1/a",
        "\\\\AUTHORITY/xs2a/v1/a",
        "/xs2a/../admin2",
        "/xs2a/%2e%2e/admin2",
        "/xs2a/..%2fadmin2",
        "@AUTHORITY/a",
        ":x@AUTHORITY/a",
        "<payment.link>@AUTHORITY",
        "/xs2a/v1/linked",
    ]
    .map(|link| world.filled(link));
    let paths = Arc::new(Mutex::new(Vec::new()));
    let (seen, redirect) = (Arc::clone(&paths), world.filled("ELSEWHERE/xs2a/v1/a"));
    let sample: Value =
        serde_json::from_str(include_str!("../../../../../fixtures/answers/payment.json")).unwrap();
    let target = stub::server(move |request: &Request| {
        let mut paths = seen.lock().unwrap();
        let url = &request.url;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        paths.push(format!("{}{query}", url.path()));
        let number = paths.len();
        if request.method.as_str() == "POST" {
            let mut sample = sample.clone();
            sample["paymentId"] = ids[number % ids.len()].into();
            sample["_links"]["status"]["href"] = links[number % links.len()].clone().into();
            return ResponseTemplate::new(201).set_body_json(sample);
        }
        ResponseTemplate::new(307).insert_header("location", redirect.as_str())
    })
    .await;
    let base = format!("{}/xs2a", target.uri());
    let profile = REFERENCE.replacen("base-url = \"http://127.0.0.1\"", &format!("base-url = {base:?}"), 1);
    assert!(profile.contains(&base));
    world.write("bank.toml", &profile);
    let only = ["payment.links", "payment.status", "error.pdng", "status.pdng"];
    let only = only.iter().flat_map(|clause| ["--only", clause]);
    let mut arguments = vec!["run", "--target", "bank.toml", "--out", "out", "--quiet"];
    arguments.extend(only);
    world.run(&arguments);
    let paths = paths.lock().unwrap();
    let below: Vec<&String> = paths.iter().filter(|path| path.starts_with("/xs2a/v1/")).collect();
    assert!(below.len() > 20, "{}", below.len());
    assert_eq!(below.len(), paths.len(), "{paths:?}");
    for path in below {
        let path = path.split('?').next().unwrap();
        assert!(!path.contains("//") && !path.contains("/.") && !path.ends_with('/'), "{path}");
    }
}
