//! Signatures: the command creates, checks and explains them, and the reference bank verifies them.

mod curl;
mod drawn_signatures;
mod forms;
mod issuer_names;
mod sign;
