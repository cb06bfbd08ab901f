//! Signatures: as the command makes, checks and explains them, and as the reference bank verifies them.

mod curl;
mod drawn_signatures;
mod forms;
mod issuer_names;
mod sign;
