//! Reads the messages of one direction as they pass.

use crate::budget::{Budget, Kept};

use super::{
    Broken,
    body::{Body, Framing, Piece},
};

/// Longest head, in bytes.
pub(crate) const MOST_HEAD: usize = 256 * 1024;

/// The next part of a message.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// Its complete head. The caller then sets the end of the body with [`Reader::body`].
    Head(Kept),
    /// Bytes of its body.
    Data(&'a [u8]),
    /// Its end.
    End,
}

#[derive(Debug)]
enum At {
    Head(Kept),
    Body(Body),
}

/// Reads the messages of one direction.
#[derive(Debug)]
pub(crate) struct Reader {
    at: At,
    budget: Budget,
}

impl Reader {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { at: At::Head(Kept::new(MOST_HEAD, budget)), budget: budget.clone() }
    }

    /// Sets the end of the body of the message whose head was returned last.
    pub(crate) fn body(&mut self, framing: Framing) {
        self.at = At::Body(Body::new(framing));
    }

    /// Returns true if the message ends with the connection.
    pub(crate) fn ends_with_the_connection(&self) -> bool {
        matches!(self.at, At::Body(Body::Close))
    }

    /// Returns true if a message has started and not ended.
    pub(crate) fn is_within(&self) -> bool {
        match &self.at {
            At::Head(head) => !head.bytes().is_empty(),
            At::Body(_) => true,
        }
    }

    /// Consumes as many bytes as possible. Returns `None` if it needs more bytes.
    pub(crate) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Part<'a>>, Broken> {
        match &mut self.at {
            At::Head(head) => {
                if head.bytes().is_empty() {
                    // Empty lines before a message are ignored (RFC 9112 section 2.2).
                    let start = bytes.iter().position(|byte| !b"\r\n".contains(byte)).unwrap_or(bytes.len());
                    *bytes = &bytes[start..];
                }
                if bytes.is_empty() {
                    return Ok(None);
                }
                let end = head_end(head.bytes(), bytes);
                let (own, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
                head.add(own);
                *bytes = rest;
                if head.is_cut() {
                    return Err("has a head that is too long");
                }
                if end.is_none() {
                    return Ok(None);
                }
                let next = Kept::new(MOST_HEAD, &self.budget);
                let whole = std::mem::replace(&mut self.at, At::Head(next));
                let At::Head(whole) = whole else { return Ok(None) };
                Ok(Some(Part::Head(whole)))
            }
            At::Body(body) => Ok(match body.next(bytes)? {
                None => None,
                Some(Piece::Data(data)) => Some(Part::Data(data)),
                Some(Piece::End) => {
                    self.at = At::Head(Kept::new(MOST_HEAD, &self.budget));
                    Some(Part::End)
                }
            }),
        }
    }
}

/// Returns the number of new bytes that belong to a head, if it ends within them. A head ends with an empty
/// line.
fn head_end(known: &[u8], new: &[u8]) -> Option<usize> {
    // The preceding line ending may be among the known bytes.
    let before = &known[known.len().saturating_sub(2)..];
    let joined = [before, new].concat();
    let is_end = |end: &usize| [&b"\n\n"[..], b"\n\r\n"].iter().any(|line| joined[..*end].ends_with(line));
    (before.len() + 1..=joined.len()).find(is_end).map(|end| end - before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_with_an_empty_line_wherever_it_is_cut() {
        for head in
            ["GET / HTTP/1.1\r\nA: b\r\n\r\n", "GET / HTTP/1.1\nA: b\n\n", "GET / HTTP/1.1\r\nA: b\n\r\n"]
        {
            let text = format!("\r\n{head}GET");
            for cut in 0..text.len() {
                let mut reader = Reader::new(&Budget::new(1 << 20));
                let mut heads = Vec::new();
                for mut piece in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
                    while let Some(Part::Head(head)) = reader.next(&mut piece).unwrap() {
                        heads.push(String::from_utf8(head.bytes().to_vec()).unwrap());
                    }
                }
                assert_eq!(heads, [head], "{cut}");
                assert!(reader.is_within());
            }
        }
    }

    #[test]
    fn a_head_without_end_is_given_up() {
        let budget = Budget::new(1 << 20);
        let mut reader = Reader::new(&budget);
        let line = b"X-Synthetic: some value that goes on\r\n".repeat(100);
        let given_up = (0..1_000).any(|_| reader.next(&mut line.as_slice()).is_err());
        assert!(given_up && budget.left() > (1 << 20) - MOST_HEAD);
    }
}
