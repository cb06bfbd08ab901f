//! Reports as other programs read them.

mod junit;
