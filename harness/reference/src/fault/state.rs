//! Faults over several requests: what the bank remembers, and for whom.

use axum::http::StatusCode;

use crate::operation::{Operation, Product};
use crate::refusal::Code;
use crate::rules::{
    Alteration, BasketRule as Rule, Breach, Change, Effect, Entry, IdLikeness as Id, Looked,
    ReferenceBreach as Reference, StateBreach as S, Variance,
};
use crate::state::Status;

/// Name, what is broken, and a sentence.
#[rustfmt::skip]
const FAULTS: &[(&str, S, &str)] = &[
    ("payment.id.distinct/second", S::IdOfTime, "The id of a payment is the second in which it was made."),
    ("payment.id.distinct/of-the-body", S::IdOfBody, "The id of a payment follows from the body that it was made with."),
    ("payment.links.status/of-one", S::LinkOfOne, "The link to the status of a payment leads to that of one and the same."),
    ("basket.response.basket-id.distinct/one", S::OneBasketId, "Every basket has the same id."),
    ("payment.stays/five", S::Forgets(5), "The bank remembers the five payments that were asked for last."),
    ("payment.stays/until-a-basket", S::GoneInBasket, "A payment is not to be had any more when it is in a basket."),
    ("payment.status.follows/rejected-as-received", S::StatusTold(Status::Rjct, Status::Rcvd), "The status of a rejected payment is told as RCVD."),
    ("payment.status.follows/rejected-as-settled", S::StatusTold(Status::Rjct, Status::Acsc), "The status of a rejected payment is told as ACSC."),
    ("payment.unknown/any", S::IdTaken(Id::Nothing), "Any id has a payment."),
    ("payment.unknown/uuid", S::IdTaken(Id::Uuid), "Any UUID has a payment."),
    ("payment.unknown/number", S::IdTaken(Id::Number), "Any number has a payment."),
    ("payment.unknown/beginning", S::IdTaken(Id::Beginning), "The last character of the id of a payment does not count."),
    ("payment.unknown/part", S::IdTaken(Id::Part), "A payment is found by the beginning of its id."),
    ("payment.unknown/leading-zeros", S::IdTaken(Id::LeadingZeros), "Leading zeros of the id of a payment do not count."),
    ("basket.payment-status.shown-to/any-psu", S::AnyPsu, "Payments show to any PSU of the TPP."),
    ("basket.payment-status.shown-to/any-tpp", S::AnyTpp, "Payments show to any TPP."),
    ("basket.payment-status.shown-to/deleted-by-anyone", S::DeletedByAnyone, "Payments are deleted by anyone who knows their id."),
    ("payment.deletion.effect/none", S::NotDeleted, "The deletion of a payment is accepted, and the payment stays as it is."),
    ("payment.deletion.refused/before-the-signature", S::DeletedUnverified, "A payment is deleted before the signature is looked at."),
    ("basket.status.worst/ends", S::Looks(Rule::Status, Looked::Ends), "A rejected payment counts at either end of a basket."),
    ("basket.status.worst/first-five", S::Looks(Rule::Status, Looked::FirstFive), "A rejected payment counts among the first five of a basket."),
    ("basket.payment-ids.unknown/ends", S::Looks(Rule::Known, Looked::Ends), "The first and the last payment of a basket have to be known."),
    ("basket.payment-ids.unknown/beginning", S::TakenInBasket(Id::Beginning), "The last character of the id of a payment does not count in a basket."),
    ("basket.payment-ids.unknown/part", S::TakenInBasket(Id::Part), "A payment is put in a basket by the beginning of its id."),
    ("basket.payment-ids.other-psu/ends", S::Looks(Rule::Own, Looked::Ends), "The first and the last payment of a basket have to be the PSU's own."),
    ("basket.payment-ids.other-psu/beyond-the-first", S::Looks(Rule::Own, Looked::First), "The first payment of a basket has to be the PSU's own."),
    ("transaction.path.unknown/number", S::TransactionTaken(Id::Number), "Any number has a transaction."),
    ("transaction.path.unknown/uuid", S::TransactionTaken(Id::Uuid), "Any UUID has a transaction."),
    ("transaction.path.unknown/beginning", S::TransactionTaken(Id::Beginning), "The last character of the id of a transaction does not count."),
    ("transaction.path.unknown/part", S::TransactionTaken(Id::Part), "A transaction is found by the beginning of its id."),
    ("transaction.path.unknown/leading-zeros", S::TransactionTaken(Id::LeadingZeros), "Leading zeros of the id of a transaction do not count."),
    ("transaction.shown-to/anyone", S::AnyAccountHolder, "Transactions show to any PSU."),
    ("transaction.stays/value-date", S::ValueDateByTurns, "Every second answer has no value date."),
    ("customers.all/created-not-listed", S::CreatedNotListed, "A customer that was created is not listed."),
    ("customers.all/with-accounts-alone", S::CreatedWithAccounts, "A customer that was created is listed with accounts, and not without."),
    ("customers.stays/last-by-turns", S::LastLeftOut, "About every second list is without the last customer."),
    ("customers.with-accounts.content/engagements-too", S::EngagementsWithAccounts, "Without accounts, agreements have no engagements."),
    ("customers.with-agreements.content/cards-too", S::CardsWithAgreements, "Without agreements, customers have no cards."),
    ("basket.payment-ids.deleted/taken", S::Looks(Rule::Kept, Looked::Nobody), "A payment that was deleted may be put in a basket."),
    ("basket.payment-ids.deleted/ends", S::Looks(Rule::Kept, Looked::Ends), "The first and the last payment of a basket may not have been deleted."),
    ("basket.payment-ids.deleted/first", S::Looks(Rule::Kept, Looked::First), "The first payment of a basket may not have been deleted."),
    ("basket.payment-ids.other-tpp/taken", S::TppInBasket, "A payment that another TPP made for the PSU may be put in a basket."),
    ("transaction.shown-to/any-tpp", S::AnyTppReads, "Transactions show to any TPP."),
    ("payment.stays/funds-by-turns", S::FundsByTurns, "Every second status of a payment says nothing of funds."),
    ("error.funds/unmarked-of-earlier-ones", S::EarlierUnmarked, "The status of a payment that was made on another day says nothing of funds."),
    ("signature.after-an-invalid-one/key-id-of-two", S::KeyIdOfTwo, "When a transaction is read, a key id that came with two certificates from one device is refused from then on."),
    ("limit.without-psu-ip/reset-by-attended", S::AttendedCallsReset, "A call with PSU-IP-Address begins the count of those without it anew."),
    ("limit.without-psu-ip.four/attended-too", S::AttendedCallsCount, "Calls with PSU-IP-Address count as well."),
    ("limit.without-psu-ip/attended-limited", S::AttendedCallsLimited, "Calls with PSU-IP-Address count as well, and are refused as those without are."),
    ("limit.without-psu-ip.attended/of-the-machine-itself", S::LoopbackCounts, "Calls with 127.0.0.1 as PSU-IP-Address are counted and refused as those without are."),
    ("http.success-statuses/by-turns", S::StatusByTurns, "Every second creation is answered with 200, and the others with 201."),
    ("http.success-statuses/by-header", S::StatusByHeader, "Creations with PSU-User-Agent are answered with 200, and the others with 201."),
    ("signature.after-an-invalid-one/locked", S::LockedAfterFive, "After five wrong signatures in a row the next request is refused."),
    ("signature.after-an-invalid-one/last-of-key-id", S::LastCertificate, "The key of the certificate counts that came last from a device under the same key id."),
    ("signature.foreign-key/last-of-key-id", S::LastCertificate, "A request is verified by the certificate that came last from its device under the same key id."),
    ("certificate.foreign/first-of-key-id", S::FirstCertificate, "The key of the certificate counts that came first under the same key id."),
    ("digest.wrong-hash/known", S::DigestKnown, "A Digest that was right once is right for any body."),
    ("digest.wrong-hash/known-of-its-request", S::DigestOfRequest, "A Digest that was right once is right for any body under the same X-Request-ID."),
    ("payment.deletion.effect/until-the-next", S::DeletedUntilNext, "A deleted payment is received again once another one was made."),
    ("payment.deletion.effect/undone", S::SecondDeletionUndoes, "A second deletion undoes the first one."),
    ("payment.deletion.effect/no-series", S::SeriesNotDeleted, "The deletion of a series is accepted, and the series stays as it is."),
    ("payment.deletion.others/all-of-the-psu", S::AllDeleted, "With a payment all others of its PSU are cancelled."),
    ("payment.deletion.others/its-twins", S::TwinsDeleted, "With a payment all others of the same members are cancelled."),
    ("payment.deletion.effect/not-where-it-was-read", S::ReadNotDeleted, "The status that was read first stays after the deletion."),
    ("error.pdng.stays/deleted-by-nobody", S::PendingDeletedByNobody, "A pending payment is deleted where no PSU asks."),
    ("error.funds/marked-once", S::MarkedOnce, "The status of a payment says that there are no funds when it is read first."),
    ("payment.deletion.others/its-basket", S::BasketDeleted, "With a payment the others of its baskets are cancelled."),
    ("payment.deletion.refused/to-another", S::DeletedUnseen, "A payment is deleted by another, who is told that there is none."),
    ("error.pdng.stays/series-cancelled", S::PendingSeriesCancelled, "The deletion of a pending series is refused, and the series is cancelled."),
    ("error.pdng/at-second", S::PendingDeletedAtSecond, "A pending payment is deleted when that is asked a second time."),
    ("payment.identity/as-named", S::PersonAsNamed, "Payments are those of the identity that was named, whoever has it."),
    ("payment.stays/until-another-asks", S::GoneWhenAsked, "A payment is not to be had any more after somebody else asked for it."),
    ("basket.payment-status.shown-to/series", S::SeriesToAnyPsu, "Series show to any PSU of the TPP."),
    ("basket.payment-status.shown-to/rejected", S::RejectedToAnyPsu, "Rejected payments show to any PSU of the TPP."),
    ("limit.consent-age/at-second", S::OldConsentAtSecond { attended: false }, "Without PSU-IP-Address a consent of any age is good from the second call on."),
    ("limit.sca-renewal/at-second", S::OldConsentAtSecond { attended: true }, "With PSU-IP-Address a consent of any age is good from the second call on."),
    ("payment.stays/until-a-refused-basket", S::RefusedBasketCancels, "A basket that is refused for a series cancels all payments that it names."),
    ("payment.status.follows/rejected-goes-back", S::RejectedGoesBack, "A rejected payment is received once its status was read three times."),
    ("payment.stays/three-times", S::GoneAfterThree, "A payment is not to be had any more after its status was read three times."),
    ("payment.id.distinct/of-deleted", S::IdOfDeleted, "The id of a deleted payment is given again."),
    ("payment.status.follows/series-has-funds", S::SeriesHasFunds, "The status of a series without funds says that there are some."),
    ("payment.status.follows/revived-by-deletion", S::RevivedByDeletion, "A rejected payment is received when it is deleted."),
    ("payment.status.follows/revived-by-basket", S::RevivedByBasket, "A rejected payment is received when it is in a basket."),
    ("basket.status.worst/but-of-today", S::RejectedTodayPasses, "A payment that was rejected on the same day does not count in a basket."),
    ("header.psu-corporate-id.ncbct/first-agreement", S::FirstAgreement, "Of several agreements of a company the first one is known."),
    ("error.corporate-id/once", S::AgreementRemembered, "A person who named an agreement before need not name it again."),
    ("limit.consent-age/not-asked", S::ConsentDays { attended: false, days: 9_999 }, "Without PSU-IP-Address a consent may be of any age."),
    ("limit.consent-age/of-180-days", S::ConsentDays { attended: false, days: 180 }, "Without PSU-IP-Address a consent is good for 180 days."),
    ("limit.consent-age.attended/ninety-days", S::ConsentDays { attended: true, days: 90 }, "With PSU-IP-Address as well a consent is good for 90 days."),
    ("limit.sca-renewal/not-asked", S::ConsentDays { attended: true, days: 9_999 }, "The SCA of a PSU is never renewed."),
    ("limit.sca-renewal/a-day-more", S::ConsentDays { attended: true, days: 181 }, "The SCA of a PSU is renewed after 181 days."),
    ("limit.sca-renewal/a-day-less", S::ConsentDays { attended: true, days: 179 }, "The SCA of a PSU is renewed after 179 days."),
    ("limit.without-psu-ip/by-psu-id", S::CallsCountedBy("psu-id"), "Calls are counted apart with PSU-ID and without."),
    ("limit.without-psu-ip/by-user-agent", S::CallsCountedBy("psu-user-agent"), "Calls are counted for each user agent apart."),
    ("limit.without-psu-ip/by-language", S::CallsCountedBy("accept-language"), "Calls are counted for each language apart."),
    ("limit.without-psu-ip/by-device", S::CallsCountedBy("psu-device-id"), "Calls are counted for each device apart."),
    ("limit.without-psu-ip/by-query", S::CallsCountedBy(""), "Calls are counted for each query string apart."),
    ("customers.all/last-alone", S::LastCreatedAlone, "Of several customers that were created, the last one alone is listed."),
    ("customers.all/no-companies", S::CompaniesNotListed, "A company that was created is not listed."),
    ("customers.as-created/no-name", S::CreatedUnnamed, "Customers that were created are listed under one name."),
    ("customers.as-created/private", S::CreatedPrivate, "Customers that were created are listed as private ones."),
    ("ncbct.allow-logical-duplicate.meaning/of-refused-ones", S::RefusedTwins, "A payment that was refused counts as one that was made before."),
    ("error.kid.status/not-demanded", S::Reference(Reference::NotDemanded), "A creditor that demands a reference is paid without one."),
    ("error.kid.status/any-digit", S::Reference(Reference::AnyDigit), "The check digit of a reference is not looked at."),
    ("error.kid.status/words", S::Reference(Reference::Words), "A text that is no number is taken for a reference."),
    ("error.kid.status/by-iban", S::Reference(Reference::ByIban), "A creditor that demands a reference and is named by its bban is paid without one."),
    ("error.kid.whole/within", S::Reference(Reference::Within), "A reference is looked for within the text."),
    ("error.kid.status/nothing", S::Reference(Reference::Nothing), "No creditor demands a reference."),
];

/// What the status of a payment says instead: name, change of transactionStatus, and a sentence.
const STATUSES: [(&str, Change, &str); 3] = [
    ("payment.status.shape/missing", Change::Remove, "The status of a payment has no transactionStatus."),
    (
        "payment.status.shape/number",
        Change::Set("1"),
        "The transactionStatus of a payment is a number in its status.",
    ),
    (
        "transaction-status.listed/in-the-status",
        Change::Set("\"DONE\""),
        "The status of a payment is no listed word.",
    ),
];

pub(super) fn faults() -> Vec<Entry> {
    let breach = |(name, breach, says): &(&str, S, &str)| Entry::breach(*name, Breach::State(*breach), *says);
    let alters = |(name, change, says)| {
        let operation = Operation::Status(Product::Ncbct);
        let alteration = Alteration { operation, pointer: "/transactionStatus", change };
        Entry::new(name, vec![Effect::Alters(alteration)], says)
    };
    let unsigned = Entry::breach(
        "payment.deletion.refused/unsigned",
        Breach::NotVerified(Operation::Deletion(Product::Ncbct)),
        "Payments are deleted whatever the signature.",
    );
    let unsigned_status = Entry::breach(
        "service.signed.elsewhere/status",
        Breach::NotVerified(Operation::Status(Product::Ncbct)),
        "The status of a payment shows whatever the signature.",
    );
    let empty_address = Entry::new(
        "limit.without-value-in-psu-ip/not-counted",
        vec![Effect::Variance(Variance::EmptyStrings), Effect::Breach(Breach::State(S::EmptyAddressCounts))],
        "Calls with an empty PSU-IP-Address are taken, and not counted.",
    );
    let other_status = Entry::new(
        "error.kid.status/unprocessable",
        vec![Effect::Refuses("error.kid.status", StatusCode::UNPROCESSABLE_ENTITY, Code::FormatError)],
        "A missing or wrong reference is refused with 422.",
    );
    let other_code = Entry::new(
        "error.kid.code/format-error",
        vec![Effect::Refuses("error.kid.status", StatusCode::BAD_REQUEST, Code::FormatError)],
        "A missing or wrong reference is refused with FORMAT_ERROR.",
    );
    let of_one_by_one = [unsigned, unsigned_status, empty_address, other_status, other_code];
    FAULTS.iter().map(breach).chain(STATUSES.map(alters)).chain(of_one_by_one).collect()
}
