//! The request headers of each operation (the document, section Endpoints > Common request headers).

pub mod fields;
pub(crate) mod format;
pub mod table;

use crate::operation::Operation;
pub use fields::Fields;
pub use format::listed;
pub use table::Header;
pub(crate) use table::Presence;
use table::TABLE;

/// Returns the headers that are part of an operation and have a rule, each with true if it is required.
pub fn parts(operation: Operation) -> impl Iterator<Item = (Header, bool)> {
    let parts = column(operation).filter(|(_, presence)| *presence != Presence::NotPartOf);
    parts.map(|(header, presence)| (header, presence == Presence::Required))
}

/// Returns true if the header with this lowercase name has a rule in some operation.
pub fn is_known(name: &str) -> bool {
    TABLE.iter().any(|row| row.header.name() == name)
}

/// Returns true if a header has a rule and is not part of this operation.
pub fn is_of_others(name: &str, operation: Operation) -> bool {
    let mut column = column(operation);
    column.any(|(header, presence)| header.name() == name && presence == Presence::NotPartOf)
}

/// Returns the table column of an operation: each header with its presence.
pub(crate) fn column(operation: Operation) -> impl Iterator<Item = (Header, Presence)> {
    TABLE.iter().map(move |row| (row.header, row.presence(operation)))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn lines_of_one_name_are_joined() {
        let mut headers = HeaderMap::new();
        headers.append("x-accept-fix", " a ".parse().unwrap());
        headers.append("x-accept-fix", "b".parse().unwrap());
        assert_eq!(Fields(&headers).bytes("X-Accept-Fix").unwrap(), b"a, b");
        assert_eq!(Fields(&headers).bytes("x-other"), None);
    }
}
