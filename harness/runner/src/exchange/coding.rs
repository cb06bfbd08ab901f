//! Content codings (RFC 9110 section 8.4.1). No request asks for one, but a server may use one all the same
//! (section 12.5.3).

use std::{borrow::Cow, io::Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::{Answer, ExchangeError, MOST_BODY};

/// The answer with its body as it was before it was compressed. A coding that is not known here leaves the
/// body as it is. An error comes with the answer as it was sent.
pub fn decoded(mut answer: Answer) -> Result<Answer, (ExchangeError, Answer)> {
    let codings = answer.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
    let mut body = Cow::Borrowed(answer.body.as_slice());
    // The last one was applied last.
    for coding in codings.rsplit(',').map(str::trim) {
        let plain = match coding {
            "gzip" | "x-gzip" => all(MultiGzDecoder::new(&*body)),
            // The zlib format, or what some send in its place: the bare data.
            "deflate" => all(ZlibDecoder::new(&*body)).or_else(|_| all(DeflateDecoder::new(&*body))),
            _ => break,
        };
        body = match plain {
            Ok(plain) => Cow::Owned(plain),
            Err(error) => return Err((error, answer)),
        };
    }
    if let Cow::Owned(plain) = body {
        answer.body = plain;
    }
    Ok(answer)
}

fn all(decoder: impl Read) -> Result<Vec<u8>, ExchangeError> {
    let mut body = Vec::new();
    let most = u64::try_from(MOST_BODY).unwrap_or(u64::MAX);
    decoder.take(most + 1).read_to_end(&mut body).map_err(|error| {
        ExchangeError::Broken(format!("its compressed body cannot be read: {error}").into())
    })?;
    if body.len() > MOST_BODY {
        return Err(ExchangeError::Broken(format!("its body is longer than {MOST_BODY} bytes").into()));
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    fn answer(coding: &str, body: Vec<u8>) -> Answer {
        Answer { status: 200, headers: vec![("Content-Encoding".to_owned(), coding.to_owned())], body }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut coder = GzEncoder::new(Vec::new(), Compression::fast());
        coder.write_all(bytes).unwrap();
        coder.finish().unwrap()
    }

    #[test]
    fn what_was_compressed_is_read() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"{}").unwrap();
        let zlib = zlib.finish().unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(b"{}").unwrap();
        for (coding, body) in [
            ("gzip", gzip(b"{}")),
            ("X-GZIP", gzip(b"{}")),
            ("deflate", zlib.clone()),
            ("deflate", bare.finish().unwrap()),
            ("deflate, gzip", gzip(&zlib)),
            ("identity", b"{}".to_vec()),
            ("synthetic", b"{}".to_vec()),
        ] {
            assert_eq!(decoded(answer(coding, body)).unwrap().body, b"{}", "{coding}");
        }
    }

    #[test]
    fn what_is_broken_or_too_long_is_no_answer() {
        let cut = gzip(b"{\"a\":\"long enough to be cut\"}");
        let cut = cut[..cut.len() / 2].to_vec();
        let (error, seen) = decoded(answer("gzip", cut.clone())).unwrap_err();
        assert!(matches!(error, ExchangeError::Broken(_)));
        assert_eq!(seen.body, cut, "as it was sent");
        let bomb = gzip(&vec![b' '; MOST_BODY + 1]);
        assert!(bomb.len() < MOST_BODY / 100);
        assert!(matches!(decoded(answer("gzip", bomb)), Err((ExchangeError::Broken(_), _))));
    }
}
