//! Remote banks and their profiles: connections, preparation, limits and privacy.

mod doctor;
mod foreign_data;
mod masks;
mod prepare_commands;
mod privacy;
mod profile_mistakes;
mod rate_limits;
mod safety;
mod sandbox;
mod second_bank;
mod serve;
mod short_values;
