//! Content codings (RFC 9110 section 8.4.1). No request asks for one, but a server may still use one (section
//! 12.5.3).
//!
//! Decoding takes bounded time, whatever a server sends. The codings, the members of each, and the bytes of
//! all layers together are limited.

use std::io::{Error, Read, Result};

use flate2::{
    bufread::GzDecoder,
    read::{DeflateDecoder, ZlibDecoder},
};
use ruzstd::decoding::StreamingDecoder;

use super::{Answer, ExchangeError, MOST_BODY};

/// Maximum number of codings of a response, as in curl.
const MOST_CODINGS: usize = 5;

/// Maximum number of members of a gzip body (RFC 1952 section 2.2) or frames of a zstd body (RFC 8878 section
/// 3).
const MOST_MEMBERS: usize = 1_000;

/// Largest window of a zstd body (RFC 9659 section 3).
const MOST_WINDOW: u64 = 8 * 1024 * 1024;

/// Buffer of the brotli decoder, in bytes.
const BUFFER: usize = 4096;

/// Values that servers put into Content-Encoding although they name a character set or a mail transfer
/// encoding (RFC 2045 section 6.1). They do not change the body.
const NO_CODINGS: [&str; 8] =
    ["identity", "none", "utf-8", "utf8", "iso-8859-1", "us-ascii", "binary", "8bit"];

/// Returns the body without its content codings. Returns `None` if it has none.
pub fn decoded(answer: &Answer) -> std::result::Result<Option<Vec<u8>>, ExchangeError> {
    let named = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let named =
        named.flat_map(|(_, value)| value.split(',')).map(|coding| coding.trim().to_ascii_lowercase());
    let codings: Vec<String> =
        named.filter(|coding| !coding.is_empty() && !NO_CODINGS.contains(&coding.as_str())).collect();
    if codings.is_empty() || answer.body.is_empty() {
        return Ok(None);
    }
    if codings.len() > MOST_CODINGS {
        let count = codings.len();
        return Err(ExchangeError::Coding(format!(
            "it has {count} content codings, more than {MOST_CODINGS}"
        )));
    }
    let mut room = MOST_BODY;
    let mut body: Option<Vec<u8>> = None;
    // The last coding was applied last, so it is removed first.
    for coding in codings.iter().rev() {
        let plain = without(coding, body.as_deref().unwrap_or(&answer.body), room)
            .map_err(|error| ExchangeError::Coding(format!("`{coding}`: {error}")))?;
        room -= plain.len();
        body = Some(plain);
    }
    Ok(body)
}

/// Returns the body without its outermost coding. Fails if the result is longer than `room` bytes.
fn without(coding: &str, body: &[u8], room: usize) -> Result<Vec<u8>> {
    let whole = |decoder: &mut dyn Read| {
        let mut plain = Vec::new();
        read(decoder, &mut plain, room).map(|()| plain)
    };
    match coding {
        "gzip" | "x-gzip" => members(body, |rest, plain| read(&mut GzDecoder::new(rest), plain, room)),
        // Some servers send raw deflate data instead of the zlib format.
        "deflate" => whole(&mut ZlibDecoder::new(body)).or_else(|_| whole(&mut DeflateDecoder::new(body))),
        "br" => whole(&mut brotli_decompressor::Decompressor::new(body, BUFFER)),
        "zstd" => members(body, |rest, plain| {
            let decoder = StreamingDecoder::new_with_max_window_size(rest, MOST_WINDOW);
            read(&mut decoder.map_err(Error::other)?, plain, room)
        }),
        _ => Err(Error::other("an unknown content coding")),
    }
}

/// Decodes one member after the other until nothing is left.
fn members(mut rest: &[u8], one: impl Fn(&mut &[u8], &mut Vec<u8>) -> Result<()>) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    for _ in 0..MOST_MEMBERS {
        one(&mut rest, &mut plain)?;
        if rest.is_empty() {
            return Ok(plain);
        }
    }
    Err(Error::other(format!("it has more than {MOST_MEMBERS} members")))
}

/// Appends the output of a decoder to `plain`, which may have `room` bytes in all.
fn read(decoder: &mut dyn Read, plain: &mut Vec<u8>, room: usize) -> Result<()> {
    let left = u64::try_from(room - plain.len()).unwrap_or(u64::MAX);
    decoder.take(left + 1).read_to_end(plain)?;
    if plain.len() > room {
        return Err(Error::other(format!("all layers together are longer than {MOST_BODY} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        time::{Duration, Instant},
    };

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn answer(coding: &str, body: Vec<u8>) -> Answer {
        Answer { status: 200, headers: vec![("Content-Encoding".to_owned(), coding.to_owned())], body }
    }

    fn plain(coding: &str, body: Vec<u8>) -> Option<Vec<u8>> {
        decoded(&answer(coding, body)).unwrap_or_else(|error| panic!("{coding}: {error}"))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
        coder.write_all(bytes).unwrap();
        coder.finish().unwrap()
    }

    /// Returns stored meta-blocks and an empty last one (RFC 7932 section 9.2).
    fn brotli(bytes: &[u8]) -> Vec<u8> {
        let block = |(at, block): (usize, &[u8])| {
            let shift = usize::from(at == 0);
            let header = ((block.len() - 1) << 3 | 1 << 19) << shift;
            [&header.to_le_bytes()[..3], block].concat()
        };
        bytes.chunks(1 << 16).enumerate().flat_map(block).chain([0b11]).collect()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn every_coding_is_decoded() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"{}").unwrap();
        let zlib = zlib.finish().unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(b"{}").unwrap();
        for (coding, body) in [
            ("gzip", gzip(b"{}")),
            ("X-GZIP", gzip(b"{}")),
            ("gzip", [gzip(b"{"), gzip(b""), gzip(b"}")].concat()),
            ("deflate", zlib.clone()),
            ("deflate", bare.finish().unwrap()),
            ("br", brotli(b"{}")),
            ("zstd", zstd(b"{}")),
            ("zstd", [zstd(b"{"), zstd(b"}")].concat()),
            ("deflate, gzip", gzip(&zlib)),
            ("br, identity, , zstd", zstd(&brotli(b"{}"))),
            ("gzip,gzip,gzip,gzip,gzip", (0..5).fold(b"{}".to_vec(), |body, _| gzip(&body))),
        ] {
            assert_eq!(plain(coding, body).as_deref(), Some(&b"{}"[..]), "{coding}");
        }
        for (coding, body) in
            [("identity", &b"{}"[..]), ("", b"{}"), ("gzip", b""), ("UTF-8", b"{}"), ("none, binary", b"{}")]
        {
            assert_eq!(plain(coding, body.to_vec()), None, "{coding}");
        }
    }

    #[test]
    fn the_codings_of_all_lines_count() {
        let mut answer = answer("deflate", gzip(b"no zlib"));
        answer.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
        assert!(matches!(decoded(&answer), Err(ExchangeError::Coding(why)) if why.contains("`deflate`")));
    }

    #[test]
    fn a_body_that_cannot_be_decoded_is_an_error() {
        let text = b"{\"a\":\"long enough to be cut\"}".repeat(20);
        let half = |body: Vec<u8>| body[..body.len() / 2].to_vec();
        let long = vec![b' '; MOST_BODY + 1];
        let six = (0..6).fold(b"{}".to_vec(), |body, _| gzip(&body));
        for (coding, body) in [
            ("gzip", half(gzip(&text))),
            ("br", half(brotli(&text))),
            ("zstd", half(zstd(&text))),
            ("gzip", [gzip(b"{}"), b"more".to_vec()].concat()),
            ("zstd", [zstd(b"{}"), b"more".to_vec()].concat()),
            ("gzip", gzip(&long)),
            ("br", brotli(&long)),
            ("zstd", zstd(&long)),
            ("synthetic", b"{}".to_vec()),
            ("gzip, synthetic", gzip(b"{}")),
            ("gzip,gzip,gzip,gzip,gzip,gzip", six),
        ] {
            let decoded = decoded(&answer(coding, body));
            assert!(matches!(decoded, Err(ExchangeError::Coding(_))), "{coding}: {decoded:?}");
        }
    }

    /// Builds layers of nearly the maximum length from empty members, which take longest to decode.
    #[test]
    fn layers_of_empty_members_are_soon_over() {
        let empty = gzip(b"");
        let mut body = gzip(b"{}");
        for _ in 1..MOST_CODINGS {
            let padding = empty.repeat((MOST_BODY - body.len()) / empty.len());
            body = gzip(&[body, padding].concat());
        }
        let begun = Instant::now();
        let decoded = decoded(&answer("gzip,gzip,gzip,gzip,gzip", body));
        assert!(matches!(decoded, Err(ExchangeError::Coding(_))), "{decoded:?}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
