//! Tests of the public interface: signatures of others, and the diagnosis of wrong ones.

mod diagnosis;
mod vectors;
