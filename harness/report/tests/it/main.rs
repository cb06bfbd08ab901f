//! Reports as other programs read them.

mod junit;
mod sample;
