//! Reads a profile from a TOML file. Errors have line and column. All checks that need no request happen
//! here.

use std::{collections::BTreeMap, path::Path, time::Duration};

use toml::Spanned;
use xs2aspec_signing::material;
use xs2aspec_suite::{CapabilitySpec, ProfileSpec, request};

use super::{
    Key, Limits, Offered, Profile, TEST_CERTIFICATE, TEST_KEY,
    error::{ProfileError, at, syntax, unknown, value},
    form::{File, Hidden, Pair, Text},
    prepare, values,
};

/// Maximum deadline of an exchange and maximum connect timeout, in milliseconds.
const LONGEST: (u64, u64) = (300_000, 60_000);
/// Minimum rate that a profile may set, in requests per second.
const LEAST_RATE: f64 = 0.01;
/// Maximum number of retries of a request.
const MOST_RETRIES: u32 = 10;
/// Maximum time that a run waits at the target's request, in seconds.
const LONGEST_WAIT: u64 = 600;

/// A profile that contains only a URL.
const ONLY_URL: &str = "base-url = \"http://127.0.0.1\"";

/// Parses a profile with this name and folder.
pub(super) fn parse(
    name: &str,
    text: &str,
    folder: Option<&Path>,
    spec: &ProfileSpec,
) -> Result<Profile, ProfileError> {
    let folder = folder.unwrap_or(Path::new(""));
    let values = values::read(name, text, spec)?;
    let file = parsed(name, text)?;
    let prepared = prepare::run(name, text, &file.prepare, folder)?;
    if file.prepare.is_empty() {
        return Reader { name, text, folder, file: &file, spec }.profile(values, prepared.values);
    }
    let text = prepared.text.as_str();
    let (file, values) = (parsed(name, text)?, values::read(name, text, spec)?);
    Reader { name, text, folder, file: &file, spec }.profile(values, prepared.values)
}

impl Profile {
    /// Returns a profile for a target with only a known URL. Uses the test values that the pack
    /// defines for any bank.
    pub fn of_url(url: &str, spec: &ProfileSpec) -> Result<Self, ProfileError> {
        let (name, base_url) = ("--target", checked_url("the target", "--target", url)?);
        let values = match &spec.any_bank {
            Some((file, text)) => values::of_pack(file, text, spec)?,
            None => values::read(name, "", spec)?,
        };
        let file = File { base_url, ..parsed(name, ONLY_URL)? };
        Reader { name, text: ONLY_URL, folder: Path::new(""), file: &file, spec }.profile(values, Vec::new())
    }
}

fn parsed(name: &str, text: &str) -> Result<File, ProfileError> {
    toml::from_str(text).map_err(|error| syntax(name, text, &error))
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    folder: &'a Path,
    file: &'a File,
    spec: &'a ProfileSpec,
}

impl Reader<'_> {
    fn profile(
        &self,
        values: BTreeMap<String, String>,
        prepared: Vec<String>,
    ) -> Result<Profile, ProfileError> {
        let (name, file) = (self.name, self.file);
        let (key, certificate) = self.signing()?;
        let client_certificate = self.pair("tls", &file.tls)?.map(|(key, certificate)| (certificate, key));
        let public = self.spec.public(values.keys().map(String::as_str));
        let capabilities = capabilities(name, file, self.spec, &values)?;
        Ok(Profile {
            name: file.name.clone().unwrap_or_else(|| file.base_url.clone()),
            version: file.version.clone(),
            contact: file.contact.clone(),
            base_url: checked_url(name, "base-url", &file.base_url)?,
            values,
            capabilities,
            public,
            paths: self.paths()?,
            choices: file.choices.clone(),
            levels: file.levels.clone(),
            rejected_is_refusal: file.rejected_is_refusal.unwrap_or(true),
            own_key: certificate != TEST_CERTIFICATE,
            key,
            certificate,
            authorities: file.authorities.as_ref().map(|path| self.text("authorities", path)).transpose()?,
            client_certificate,
            http: file.http.unwrap_or_default(),
            proxy: file.proxy.as_deref().map(|proxy| checked_url(name, "proxy", proxy)).transpose()?,
            headers: self.headers()?,
            deadline: self.time("deadline-ms", file.deadline_ms, 10_000, LONGEST.0)?,
            connect_timeout: self.time("connect-timeout-ms", file.connect_timeout_ms, 5_000, LONGEST.1)?,
            limits: self.limits()?,
            prepared,
            environment: file.environment,
            confirm_production: file.confirm_production.clone(),
        })
    }

    fn wrong(&self, message: impl Into<String>) -> ProfileError {
        value(self.name, message)
    }

    /// Returns the content of a text file that the profile names at this key.
    fn text(&self, key: &str, path: &Path) -> Result<String, ProfileError> {
        let bytes = self.bytes(key, path)?;
        String::from_utf8(bytes).map_err(|_| self.wrong(format!("`{key}`: {} is not UTF-8", path.display())))
    }

    fn bytes(&self, key: &str, path: &Path) -> Result<Vec<u8>, ProfileError> {
        let path = self.folder.join(path);
        xs2aspec_record::inputs::read(&path)
            .map_err(|source| self.wrong(format!("`{key}`: cannot read {}: {source}", path.display())))
    }

    fn hidden(&self, key: &str, hidden: &Hidden) -> Result<String, ProfileError> {
        match hidden {
            Hidden::Env(variable) => std::env::var(variable).map_err(|_| {
                self.wrong(format!("`{key}` is in the environment variable `{variable}`, which is not set"))
            }),
            Hidden::File(path) => {
                let text = self.text(key, path)?;
                Ok(text
                    .strip_suffix('\n')
                    .map_or(text.as_str(), |line| line.trim_end_matches('\r'))
                    .to_owned())
            }
        }
    }

    /// Returns the signing key and its certificate.
    fn signing(&self) -> Result<(Key, String), ProfileError> {
        let signing = &self.file.signing;
        let Some(command) = &signing.command else {
            let pair = self.pair("signing", signing)?;
            let (key, certificate) = pair.unwrap_or((TEST_KEY.to_owned(), TEST_CERTIFICATE.to_owned()));
            return Ok((Key::Pem(key), certificate));
        };
        let (Some(certificate), None, None) = (&signing.certificate, &signing.key, &signing.pkcs12) else {
            return Err(
                self.wrong("`[signing] command` requires `certificate`, and excludes `key` and `pkcs12`")
            );
        };
        if command.is_empty() {
            return Err(self.wrong("`[signing] command` is empty: expected an executable and its arguments"));
        }
        let key = Key::Command { command: command.clone(), folder: self.folder.to_owned() };
        Ok((key, self.text("[signing] certificate", certificate)?))
    }

    /// Returns the key and certificate of a table, as PEM without a passphrase. Returns None if it names
    /// none.
    fn pair(&self, table: &str, pair: &Pair) -> Result<Option<(String, String)>, ProfileError> {
        let at = |key: &str| format!("[{table}] {key}");
        let passphrase = pair.passphrase.as_ref().map(|hidden| self.hidden(&at("passphrase"), hidden));
        let passphrase = passphrase.transpose()?;
        match (&pair.key, &pair.certificate, &pair.pkcs12) {
            _ if pair.command.is_some() => Err(self.wrong(format!(
                "`[{table}] command`: a command only signs; expected `key` and `certificate`, or `pkcs12`"
            ))),
            (None, None, None) if passphrase.is_some() => {
                Err(self.wrong(format!("`[{table}] passphrase` has no effect: add `key` or `pkcs12`")))
            }
            (None, None, None) => Ok(None),
            (None, None, Some(archive)) => {
                let bytes = self.bytes(&at("pkcs12"), archive)?;
                let opened = material::opened(&bytes, passphrase.as_deref().unwrap_or_default());
                opened.map(Some).map_err(|error| self.wrong(format!("`[{table}] pkcs12`: {error}")))
            }
            (Some(key), Some(certificate), None) => {
                let key = self.text(&at("key"), key)?;
                let key = material::unlocked(&key, passphrase.as_deref())
                    .map_err(|error| self.wrong(format!("`[{table}] key`: {error}")))?;
                Ok(Some((key, self.text(&at("certificate"), certificate)?)))
            }
            (_, _, Some(_)) => Err(self.wrong(format!(
                "`[{table}] pkcs12` contains both key and certificate: remove `key` and `certificate`"
            ))),
            _ => Err(self.wrong(format!("`[{table}]` requires both `key` and `certificate`, or neither"))),
        }
    }

    /// Returns the additional headers with their secrets resolved.
    fn headers(&self) -> Result<BTreeMap<String, String>, ProfileError> {
        let of = |(header, text): (&String, &Text)| {
            let text = match text {
                Text::Plain(text) => text.clone(),
                Text::Hidden(hidden) => self.hidden(&format!("[headers] {header}"), hidden)?,
            };
            let fits = http::header::HeaderName::from_bytes(header.as_bytes()).is_ok()
                && http::header::HeaderValue::from_str(&text).is_ok();
            if fits {
                Ok((header.clone(), text))
            } else {
                Err(self.wrong(format!("`[headers] {header}` is not a valid header (RFC 9110 section 5)")))
            }
        };
        self.file.headers.iter().map(of).collect()
    }

    fn paths(&self) -> Result<BTreeMap<String, String>, ProfileError> {
        for (operation, path) in &self.file.paths {
            if !request::is_path(path) || path.contains(['?', '#']) {
                return Err(self.wrong(format!(
                    "`[paths] {operation}` is `{path}`: expected a path that starts with one `/`, without a query or dot segments"
                )));
            }
        }
        Ok(self.file.paths.clone())
    }

    fn time(&self, key: &str, said: Option<u64>, usual: u64, most: u64) -> Result<Duration, ProfileError> {
        match said.unwrap_or(usual) {
            time if (1..=most).contains(&time) => Ok(Duration::from_millis(time)),
            time => Err(self.wrong(format!("`{key}` is {time}: expected 1 to {most} milliseconds"))),
        }
    }

    fn limits(&self) -> Result<Limits, ProfileError> {
        let limit = &self.file.limits;
        let rate = |key: String, rate: &Spanned<f64>| match *rate.as_ref() {
            per_second if per_second.is_finite() && per_second >= LEAST_RATE => {
                Ok(Duration::from_secs_f64(1.0 / per_second))
            }
            per_second => {
                let message = format!(
                    "`[limits] {key}` is {per_second}: expected requests per second, {LEAST_RATE} or more"
                );
                Err(at(self.name, self.text, rate.span().start, message))
            }
        };
        let within = |key: &str, said: u64, most: u64| {
            if said <= most {
                Ok(said)
            } else {
                Err(self.wrong(format!("`[limits] {key}` is {said}: expected at most {most}")))
            }
        };
        if limit.in_flight == Some(0) {
            return Err(self.wrong("`[limits] in-flight` is 0: expected 1 or more"));
        }
        let operations = limit.operations.iter();
        let retries = limit.retries.unwrap_or(2);
        within("retries", retries.into(), MOST_RETRIES.into())?;
        Ok(Limits {
            in_flight: limit.in_flight,
            interval: limit.per_second.as_ref().map(|per| rate("per-second".into(), per)).transpose()?,
            intervals: operations
                .map(|(name, per)| Ok((name.clone(), rate(format!("operations.{name}"), per)?)))
                .collect::<Result<_, ProfileError>>()?,
            retries,
            longest_wait: Duration::from_secs(within(
                "longest-wait-s",
                limit.longest_wait_s.unwrap_or(30),
                LONGEST_WAIT,
            )?),
            slow_ms: limit
                .slow_ms
                .map(|slow| self.time("[limits] slow-ms", Some(slow), slow, LONGEST.0).map(|_| slow))
                .transpose()?,
        })
    }
}

pub(super) fn checked_url(file: &str, key: &str, text: &str) -> Result<String, ProfileError> {
    // A password may precede the host.
    let shown = match (text.find("://"), text.rfind('@')) {
        (Some(start), Some(end)) if start + 3 <= end => format!("{}***{}", &text[..start + 3], &text[end..]),
        _ => text.to_owned(),
    };
    let wrong = |why: String| value(file, format!("`{key}`: invalid URL `{shown}`: {why}"));
    let url = url::Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("expected `http://HOST..` or `https://HOST..`".into()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a query or a fragment".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it contains a user or a password, which would appear in every report".into()));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn capabilities(
    name: &str,
    file: &File,
    spec: &ProfileSpec,
    values: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Offered>, ProfileError> {
    if let Some(wrong) = file.capabilities.keys().find(|key| spec.capability(key).is_none()) {
        return Err(value(name, unknown("capability", wrong, spec.capability_names())));
    }
    let offered = |capability: &CapabilitySpec| match file.capabilities.get(&capability.name) {
        Some(true) => Some(Offered::Yes),
        Some(false) => Some(Offered::No),
        None => {
            let whole = capability.part_of.as_ref().and_then(|whole| file.capabilities.get(whole));
            let is_whole = capability.part_of.is_none() || whole == Some(&true);
            match (whole, capability.told_by(|name| values.get(name))) {
                (Some(false), _) | (_, Some(false)) => Some(Offered::No),
                (_, Some(true)) if is_whole => Some(Offered::Yes),
                _ => capability.ask.is_some().then_some(Offered::Ask),
            }
        }
    };
    let offered = spec.capabilities.iter().filter_map(|one| Some((one.name.clone(), offered(one)?)));
    Ok(offered.collect())
}
