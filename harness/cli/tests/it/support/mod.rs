//! What tests share: the command, the files that they start from, and the network around it.

pub(crate) mod counting;
pub(crate) mod network;
