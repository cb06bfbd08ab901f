//! Tests of the suite through its public interface.

mod embedded;
mod ledger;
mod loading;
mod matrix;
mod order;
mod scaffold;
mod stored;
mod tables;
