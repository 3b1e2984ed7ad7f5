//! Carries out requests as the module does, but natively, for any processor that the compiler knows.
//!
//! `requests FILE…` prints a JSON object for each request: its result hash, or in words why there is none;
//! and the time in ms.

use std::time::Instant;

use manetlab_wasm::run;
use serde_json::{Value, json};

#[expect(clippy::disallowed_methods, reason = "the time that a run takes is measured from outside of it")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in std::env::args().skip(1) {
        let request = std::fs::read_to_string(name)?;
        let began = Instant::now();
        let answered = run(&request, &mut |_| {});
        let ms = began.elapsed().as_secs_f64() * 1e3;
        let line = match answered {
            Ok(answer) => {
                let result: Value = serde_json::from_str(&answer.result)?;
                json!({"hash": result["result_hash"], "ms": ms})
            }
            Err(refused) => json!({"refused": refused.to_string(), "ms": ms}),
        };
        println!("{line}");
    }
    Ok(())
}
