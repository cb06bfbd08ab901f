//! Reads both directions of a connection and matches responses to requests.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::{
    budget::{Budget, Kept},
    exchange::{Answer, Exchange, Request, Sighting},
    http::{Broken, Framing, Part, Reader, RequestHead, ResponseHead},
};

/// Maximum number of requests that wait for their responses on one connection.
const MOST_WAITING: usize = 256;

/// Maximum number of bytes kept of one body.
pub(crate) const MOST_BODY: usize = 2 * 1024 * 1024;

/// The sending end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum From {
    Client,
    Bank,
}

/// The messages of one connection. Reading stops at the first bytes that are not HTTP.
#[derive(Debug)]
pub(crate) struct Conversation {
    connection: u64,
    /// Start of the proxy.
    start: Instant,
    budget: Budget,
    requests: Reader,
    answers: Reader,
    waiting: VecDeque<Waiting>,
    is_read: bool,
    /// True if the client has closed its direction.
    client_ended: bool,
}

/// A request and the part of its response that has arrived.
#[derive(Debug)]
struct Waiting {
    begun: Instant,
    request: Request,
    /// Budget for the memory of the head.
    _head: Kept,
    answer: Option<(Answer, Kept)>,
    last: Instant,
}

impl Conversation {
    pub(crate) fn new(connection: u64, start: Instant, budget: &Budget) -> Self {
        Self {
            connection,
            start,
            budget: budget.clone(),
            requests: Reader::new(budget),
            answers: Reader::new(budget),
            waiting: VecDeque::new(),
            is_read: true,
            client_ended: false,
        }
    }

    /// Reads bytes from one end.
    pub(crate) fn read(&mut self, from: From, mut bytes: &[u8]) -> Vec<Sighting> {
        let mut seen = Vec::new();
        while self.is_read {
            let (reader, what) = match from {
                From::Client => (&mut self.requests, "a request"),
                From::Bank => (&mut self.answers, "the response"),
            };
            let read = match (reader.next(&mut bytes), from) {
                (Ok(None), _) => break,
                (Ok(Some(part)), From::Client) => self.request_part(part, &mut seen),
                (Ok(Some(part)), From::Bank) => self.answer_part(part, &mut seen),
                (Err(why), _) => Err(why),
            };
            if let Err(why) = read {
                self.stop_reading(&format!("{what} {why}"), &mut seen);
            }
        }
        seen
    }

    fn request_part(&mut self, part: Part<'_>, seen: &mut Vec<Sighting>) -> Result<(), Broken> {
        match part {
            Part::Head(kept) => {
                let head = RequestHead::read(kept.bytes())?;
                if self.waiting.len() == MOST_WAITING {
                    return Err("is sent while hundreds of others wait for a response");
                }
                let body = Kept::new(MOST_BODY, &self.budget);
                let RequestHead { method, target, headers, framing } = head;
                let request = Request { method, target, headers, body, is_whole: false };
                let now = Instant::now();
                self.waiting.push_back(Waiting { begun: now, request, _head: kept, answer: None, last: now });
                self.requests.body(framing?);
            }
            Part::Data(data) => {
                if let Some(last) = self.waiting.back_mut() {
                    last.request.body.add(data);
                }
            }
            Part::End => {
                if let Some(last) = self.waiting.back_mut() {
                    last.request.is_whole = true;
                }
                self.emit(seen);
            }
        }
        Ok(())
    }

    fn answer_part(&mut self, part: Part<'_>, seen: &mut Vec<Sighting>) -> Result<(), Broken> {
        match part {
            Part::Head(kept) => {
                let head = ResponseHead::of_whole(kept.bytes())?;
                let first = self.waiting.front_mut().filter(|first| first.answer.is_none());
                let first = first.ok_or("belongs to no request")?;
                first.last = Instant::now();
                let method = &first.request.method;
                let (is_interim, is_switch) = (head.is_interim(), head.is_switch(method));
                let framing = if is_switch { Framing::Length(0) } else { head.framing(method)? };
                self.answers.body(framing);
                if is_interim {
                    return Ok(());
                }
                let body = Kept::new(MOST_BODY, &self.budget);
                let ResponseHead { status, headers, .. } = head;
                first.answer = Some((Answer { status, headers, body, is_whole: is_switch }, kept));
                if is_switch {
                    self.client_ended = true;
                    self.emit(seen);
                    self.stop_reading("the connection switched to another protocol", seen);
                }
            }
            Part::Data(data) => {
                if let Some(first) = self.waiting.front_mut() {
                    first.last = Instant::now();
                    first.answer.iter_mut().for_each(|(answer, _)| answer.body.add(data));
                }
            }
            Part::End => {
                // An interim response also ends, but is not stored.
                if let Some((answer, _)) = self.waiting.front_mut().and_then(|first| first.answer.as_mut()) {
                    answer.is_whole = true;
                }
                self.emit(seen);
            }
        }
        Ok(())
    }

    /// Returns true if the client has closed its direction and received all responses.
    pub(crate) fn is_over(&self) -> bool {
        self.is_read && self.client_ended && self.waiting.is_empty()
    }

    /// Records that the client has closed its direction.
    pub(crate) fn client_ended(&mut self) -> Vec<Sighting> {
        let mut seen = Vec::new();
        self.client_ended = true;
        self.emit(&mut seen);
        seen
    }

    /// Records that the bank has closed its direction.
    pub(crate) fn bank_ended(&mut self) -> Vec<Sighting> {
        let mut seen = Vec::new();
        if self.answers.ends_with_the_connection() {
            if let Some((answer, _)) = self.waiting.front_mut().and_then(|first| first.answer.as_mut()) {
                answer.is_whole = true;
            }
            self.emit(&mut seen);
        }
        let within = if self.answers.is_within() { "within its response" } else { "without a response" };
        self.give_up(&format!("the bank closed the connection {within}"), &mut seen);
        seen
    }

    /// Ends the conversation for this reason.
    pub(crate) fn end(&mut self, why: &str) -> Vec<Sighting> {
        let mut seen = Vec::new();
        self.give_up(why, &mut seen);
        seen
    }

    /// Stops reading because the bytes cannot be parsed.
    fn stop_reading(&mut self, why: &str, seen: &mut Vec<Sighting>) {
        self.give_up(why, seen);
        seen.push(Sighting::Unread { connection: self.connection, why: why.to_owned() });
    }

    /// Returns the waiting requests as incomplete.
    fn give_up(&mut self, why: &str, seen: &mut Vec<Sighting>) {
        self.is_read = false;
        while let Some(first) = self.waiting.pop_front() {
            let failure = Some(why.to_owned());
            seen.push(Sighting::Exchange(Box::new(self.exchange(first, failure))));
        }
        self.requests = Reader::new(&self.budget);
        self.answers = Reader::new(&self.budget);
    }

    /// Returns the first exchange if it is complete.
    fn emit(&mut self, seen: &mut Vec<Sighting>) {
        let is_done = |first: &Waiting| {
            (first.request.is_whole || self.client_ended)
                && first.answer.as_ref().is_some_and(|(answer, _)| answer.is_whole)
        };
        if self.waiting.front().is_some_and(is_done)
            && let Some(first) = self.waiting.pop_front()
        {
            seen.push(Sighting::Exchange(Box::new(self.exchange(first, None))));
        }
    }

    fn exchange(&self, waiting: Waiting, failure: Option<String>) -> Exchange {
        let Waiting { begun, request, answer, last, .. } = waiting;
        let since = |from: Instant, to: Instant| to.checked_duration_since(from).unwrap_or(Duration::ZERO);
        Exchange {
            connection: self.connection,
            at: since(self.start, begun),
            took: since(begun, last),
            request,
            answer: answer.map(|(answer, _)| answer),
            failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats sightings, one per line. An exchange has method, target, body, status, body of the response,
    /// and failure.
    fn shown(seen: Vec<Sighting>) -> Vec<String> {
        let text = |kept: &Kept| String::from_utf8_lossy(kept.bytes()).into_owned();
        let one = |sighting| match sighting {
            Sighting::Exchange(seen) => {
                let Exchange { request, answer, failure, .. } = *seen;
                let cut = if request.is_whole { "" } else { " cut" };
                let answer = answer.map_or("nothing".to_owned(), |answer| {
                    format!(
                        "{} {}{}",
                        answer.status,
                        text(&answer.body),
                        if answer.is_whole { "" } else { " cut" }
                    )
                });
                let failure = failure.map(|why| format!(" | {why}")).unwrap_or_default();
                format!(
                    "{} {} {}{cut} -> {answer}{failure}",
                    request.method,
                    request.target,
                    text(&request.body)
                )
            }
            Sighting::Unread { why, .. } => format!("unread: {why}"),
            Sighting::Unreachable { why, .. } => format!("unreachable: {why}"),
        };
        seen.into_iter().map(one).collect()
    }

    fn conversation(budget: usize) -> Conversation {
        Conversation::new(1, Instant::now(), &Budget::new(budget))
    }

    /// Reads all bytes of the client, then all of the bank, in pieces of every size.
    fn read(client: &str, bank: &str) -> Vec<String> {
        let whole = |size: usize| {
            let mut conversation = conversation(1 << 20);
            let mut seen: Vec<Sighting> = client
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| conversation.read(From::Client, piece))
                .collect();
            seen.extend(bank.as_bytes().chunks(size).flat_map(|piece| conversation.read(From::Bank, piece)));
            seen.extend(conversation.bank_ended());
            shown(seen)
        };
        let expected = whole(1 << 20);
        for size in [1, 2, 3, 7, 50] {
            assert_eq!(whole(size), expected, "in pieces of {size}");
        }
        expected
    }

    #[test]
    fn pipelined_requests_have_their_own_answers() {
        let client = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcHEAD /b HTTP/1.1\r\n\r\n\
            PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=\"y\"\r\nde\r\n1\r\nf\r\n0\r\nT: u\r\n\r\nGET /d HTTP/1.1\r\n\r\n";
        let bank = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n\
            HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\nHTTP/1.0 200 OK\r\n\r\nto the end";
        let expected =
            ["POST /a abc -> 201 {}", "HEAD /b  -> 200 ", "PUT /c def -> 200 1", "GET /d  -> 200 to the end"];
        assert_eq!(read(client, bank), expected);
    }

    #[test]
    fn what_ends_too_early_is_told() {
        let get = "GET /a HTTP/1.1\r\n\r\n";
        for (bank, expected) in [
            ("", "GET /a  -> nothing | the bank closed the connection without a response"),
            ("HTTP/1.1 200", "GET /a  -> nothing | the bank closed the connection within its response"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
                "GET /a  -> 200 ab cut | the bank closed the connection within its response",
            ),
        ] {
            assert_eq!(read(get, bank), [expected]);
        }
        // A client that has closed its direction still gets its response.
        let mut half = conversation(1 << 20);
        let mut seen = half.read(From::Client, b"POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc");
        seen.extend(half.client_ended());
        seen.extend(half.read(From::Bank, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(shown(seen), ["POST /a abc cut -> 400 "]);
    }

    #[test]
    fn what_is_no_http_is_not_read_and_neither_is_what_follows() {
        let get = "GET /a HTTP/1.1\r\n\r\n";
        for (bank, why) in [
            ("SSH-2.0-synthetic\r\n\r\n", "the response is not HTTP/1.1"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "the response has a chunk with an invalid size",
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "the response has an invalid Content-Length"),
        ] {
            let seen = read(get, bank);
            assert!(seen.len() == 2 && seen[0].ends_with(&format!("| {why}")), "{seen:?}");
            assert_eq!(seen[1], format!("unread: {why}"));
        }
        assert_eq!(read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\0\0"), ["unread: a request is not HTTP/1.1"]);
        let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".repeat(2);
        assert_eq!(read(get, &unasked), ["GET /a  -> 200 ", "unread: the response belongs to no request"]);
    }

    #[test]
    fn another_protocol_is_passed_on_unread() {
        let asked = "GET /a HTTP/1.1\r\nUpgrade: synthetic\r\n\r\n";
        let seen = read(asked, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: synthetic\r\n\r\n\0\x01\x02");
        assert_eq!(seen, ["GET /a  -> 101 ", "unread: the connection switched to another protocol"]);
        let seen = read("CONNECT a:1 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01");
        assert_eq!(seen, ["CONNECT a:1  -> 200 ", "unread: the connection switched to another protocol"]);
    }

    #[test]
    fn more_than_there_is_room_for_is_cut_and_given_back() {
        let mut small = conversation(40_000);
        let body = "x".repeat(50_000);
        let mut seen = small.read(
            From::Client,
            format!("POST /a HTTP/1.1\r\nContent-Length: 50000\r\n\r\n{body}").as_bytes(),
        );
        seen.extend(small.read(From::Bank, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
        let [Sighting::Exchange(exchange)] = seen.as_slice() else { panic!("{seen:?}") };
        assert!(exchange.request.body.is_cut() && exchange.request.is_whole);
        drop(seen);
        assert_eq!(small.budget.left(), 40_000);
    }

    #[test]
    fn requests_that_nobody_answers_do_not_pile_up() {
        let mut conversation = conversation(1 << 20);
        let flood = "GET /a HTTP/1.1\r\n\r\n".repeat(MOST_WAITING + 1);
        let seen = conversation.read(From::Client, flood.as_bytes());
        assert_eq!(seen.len(), MOST_WAITING + 1, "all of them, and the end of reading");
        assert!(conversation.read(From::Client, flood.as_bytes()).is_empty());
        drop(seen);
        assert_eq!(conversation.budget.left(), 1 << 20);
    }
}
