//! The suite from outside: what the program carries, and how mistakes in it are found.

mod embedded;
mod ledger;
mod loading;
mod matrix;
mod order;
mod scaffold;
mod stored;
mod tables;
