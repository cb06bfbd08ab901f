//! The banks that are run under a condition: the reference bank in a style or with a fault, and peers.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use serde::Deserialize;
use toml::Table;
use xs2aspec_reference::{Bank, Config, Fault, Seed, Style, Variation, start};

use super::{ConditionError, profile};

/// The profile of the reference bank.
const REFERENCE: &str = include_str!("../../../../fixtures/targets/reference.toml");

/// The text that a peer prints before its address when it is ready.
const LISTENING: &str = "listening on ";

/// A bank that is run under conditions.
#[derive(Debug, Clone)]
pub enum Subject {
    /// The reference bank in a style.
    Style(Style),
    /// The reference bank with one fault.
    Fault(Fault),
    /// An independent program.
    Peer(Arc<Peer>),
}

/// An independent bank, as `peers.toml` of its folder names it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Its name, such as `python-lean`.
    pub name: String,
    /// The program and its arguments; `--address` is added. Relative to the folder of the file.
    command: Vec<String>,
    /// Its profile.
    profile: PathBuf,
    #[serde(skip)]
    folder: PathBuf,
    /// The single fault that it is started with, if any.
    #[serde(skip)]
    fault: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Peers {
    peer: Vec<Peer>,
}

impl Peer {
    /// Reads `peers.toml` of a folder.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a list of peers.
    pub fn read(folder: &Path) -> Result<Vec<Self>, ConditionError> {
        let file = folder.join("peers.toml");
        let text =
            std::fs::read_to_string(&file).map_err(|error| ConditionError::File(file.clone(), error))?;
        let peers: Peers = toml::from_str(&text).map_err(|error| ConditionError::Toml(file, error))?;
        let folder = folder.canonicalize().map_err(|error| ConditionError::File(folder.to_owned(), error))?;
        Ok(peers.peer.into_iter().map(|peer| Self { folder: folder.clone(), ..peer }).collect())
    }

    /// Returns the peer once for each single fault that it knows, started with that fault.
    ///
    /// # Errors
    ///
    /// If the peer cannot be started, or lists no fault.
    pub fn with_each_fault(&self) -> Result<Vec<Self>, ConditionError> {
        let output = self.command()?.arg("--list-faults").output().map_err(ConditionError::Start)?;
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = listed.lines().filter_map(|line| Some(line.split_once('\t')?.0));
        let peers: Vec<Self> = names
            .map(|fault| Self {
                name: format!("{}/{fault}", self.name),
                fault: Some(fault.to_owned()),
                ..self.clone()
            })
            .collect();
        if peers.is_empty() { Err(ConditionError::Peer(self.name.clone())) } else { Ok(peers) }
    }

    fn command(&self) -> Result<Command, ConditionError> {
        let empty = || ConditionError::Peer(self.name.clone());
        let (program, arguments) = self.command.split_first().ok_or_else(empty)?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

impl Subject {
    /// Returns its name in tables and in the list of known failures.
    pub fn name(&self) -> &str {
        match self {
            Self::Style(style) => style.name(),
            Self::Fault(fault) => fault.name(),
            Self::Peer(peer) => &peer.name,
        }
    }

    /// Returns true if the bank conforms to the document.
    pub fn conforms(&self) -> bool {
        match self {
            Self::Style(_) => true,
            Self::Fault(_) => false,
            Self::Peer(peer) => peer.fault.is_none(),
        }
    }

    fn variations(&self, further: Option<Variation>) -> Vec<Variation> {
        let own = match self {
            Self::Style(style) => style.variations(),
            Self::Fault(_) | Self::Peer(_) => &[],
        };
        own.iter().copied().chain(further).collect()
    }

    /// Returns the profile of the bank without its address, and the prefix of its paths.
    pub(super) fn profile(
        &self,
        variation: Option<Variation>,
    ) -> Result<(Table, &'static str), ConditionError> {
        let (text, file) = match self {
            Self::Peer(peer) => {
                let file = peer.folder.join(&peer.profile);
                let text = std::fs::read_to_string(&file);
                (text.map_err(|error| ConditionError::File(file.clone(), error))?, file)
            }
            _ => (REFERENCE.to_owned(), PathBuf::from("reference.toml")),
        };
        let mut table: Table = toml::from_str(&text).map_err(|error| ConditionError::Toml(file, error))?;
        let variations = self.variations(variation);
        let declarations = variations.iter().flat_map(|variation| variation.declares());
        let prefix = profile::declare(&mut table, declarations);
        Ok((table, prefix))
    }

    /// Starts the bank. A bank with another seed creates other ids.
    pub(super) async fn start(
        &self,
        variation: Option<Variation>,
        seed: u64,
    ) -> Result<Running, ConditionError> {
        match self {
            Self::Peer(peer) => {
                let peer = Arc::clone(peer);
                let started = tokio::task::spawn_blocking(move || Running::spawn(&peer)).await;
                started.unwrap_or_else(|error| Err(ConditionError::Start(error.into())))
            }
            Self::Style(_) | Self::Fault(_) => {
                let faults = match self {
                    Self::Fault(fault) => vec![*fault],
                    _ => Vec::new(),
                };
                let variations = self.variations(variation);
                let data = Seed::built_in();
                let config = Config { faults, variations, data, seed, ..Config::default() };
                start(config).await.map(Running::Reference).map_err(ConditionError::Start)
            }
        }
    }
}

/// A bank that listens. It ends when it is dropped.
pub(super) enum Running {
    Reference(Bank),
    Peer(Child, SocketAddr),
}

impl Running {
    /// Starts a peer and waits until it prints its address.
    fn spawn(peer: &Peer) -> Result<Self, ConditionError> {
        let silent = || ConditionError::Peer(peer.name.clone());
        let mut command = peer.command()?;
        if let Some(fault) = &peer.fault {
            command.args(["--fault", fault]);
        }
        let listening = command.args(["--address", "127.0.0.1:0"]).stdout(Stdio::piped());
        let mut child = listening.spawn().map_err(ConditionError::Start)?;
        let output = child.stdout.take().ok_or_else(silent)?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).map_err(ConditionError::Start)?;
        let address = line.trim().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
        let running = Self::Peer(child, address.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0))));
        // If the child printed something else, it ends when this is dropped.
        address.map(|_| running).ok_or_else(silent)
    }

    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Reference(bank) => bank.address(),
            Self::Peer(_, address) => *address,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Self::Peer(child, _) = self {
            // It may have ended already.
            drop(child.kill());
            drop(child.wait());
        }
    }
}
