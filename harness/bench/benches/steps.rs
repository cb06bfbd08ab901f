//! Measures each step: `cargo bench -p xs2aspec-bench`.

use divan::Bencher;
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, RsaKeySize};
use xs2aspec_bench::{STEPS, Step, sign, verify};

fn main() {
    divan::main();
}

#[divan::bench(args = STEPS.map(|(name, _)| name))]
fn step(bencher: Bencher, name: &str) {
    bencher.bench_local(xs2aspec_bench::step(name).expect("a step"));
}

/// Prepares a step with a key of this size and a certificate for it.
fn of(bits: usize, step: fn(&str, &str) -> Result<Step, String>) -> Step {
    let size = match bits {
        2048 => RsaKeySize::_2048,
        3072 => RsaKeySize::_3072,
        _ => RsaKeySize::_4096,
    };
    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, size).expect("a key");
    let certificate = CertificateParams::default().self_signed(&key).expect("a certificate");
    step(&key.serialize_pem(), &certificate.pem()).expect("a step")
}

#[divan::bench(args = [2048, 3072, 4096])]
fn signing(bencher: Bencher, bits: usize) {
    bencher.bench_local(of(bits, sign));
}

#[divan::bench(args = [2048, 3072, 4096])]
fn verifying(bencher: Bencher, bits: usize) {
    bencher.bench_local(of(bits, verify));
}
