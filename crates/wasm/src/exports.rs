//! What the module's host calls.
//!
//! 1. `manetlab_input(bytes)` makes room for a request and says where it is in the module's memory.
//! 2. The host writes the request there, as UTF-8, and calls `manetlab_run()`: 1 if it was carried out, 0 if
//!    not.
//! 3. `manetlab_output(what)` and `manetlab_output_bytes(what)` say where the answer is: `TEXT` is the
//!    result, or in words why there is none; `RECORDING` is the recording.
//!
//! A call of Python in a page goes the same way, through `manetlab_call()`: see [`crate::calls`]. Bytes that
//! belong to it are put where `manetlab_data(bytes)` makes room for them. The answer is JSON: of a failure,
//! why.
//!
//! `manetlab_measures()` puts the table of measures there: what is said of each, in JSON.
//!
//! A panic traps, after which the text holds its message and the module should be made anew. While a recorded
//! run goes on, the module calls the host's `manetlab.progress(part)`.

use std::cell::RefCell;

use crate::calls::call;
use crate::failed::Failed;
use crate::refused::Refused;
use crate::running::{Answer, run};

/// The result, or why there is none.
pub const TEXT: u32 = 0;
/// The recording.
pub const RECORDING: u32 = 1;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static DATA: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUTS: RefCell<[Vec<u8>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "the import's signature is that of viewer/src/worker.ts")]
#[link(wasm_import_module = "manetlab")]
unsafe extern "C" {
    safe fn progress(part: f64);
}

#[cfg(not(target_arch = "wasm32"))]
fn progress(_: f64) {}

fn put(text: &[u8], recording: Vec<u8>) {
    OUTPUTS.set([text.to_vec(), recording]);
}

/// Makes room for a request of so many bytes; the place is its address.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; bytes];
        input.as_mut_ptr()
    })
}

/// Makes room for so many bytes that belong to a call; the place is its address.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_data(bytes: usize) -> *mut u8 {
    DATA.with_borrow_mut(|data| {
        *data = vec![0; bytes];
        data.as_mut_ptr()
    })
}

/// Answers a call of Python: 1, or 0 if it failed.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_call() -> u32 {
    std::panic::set_hook(Box::new(|info| put(info.to_string().as_bytes(), Vec::new())));
    let (asked, data) = (INPUT.take(), DATA.take());
    let answered = String::from_utf8(asked)
        .map_err(|error| Failed::Wrong(error.to_string()))
        .and_then(|asked| call(&asked, &data));
    let (is_answer, answer) = match answered {
        Ok(answer) => (1, answer),
        Err(failed) => (0, failed.to_json()),
    };
    put(answer.to_string().as_bytes(), Vec::new());
    is_answer
}

/// Carries out the request: 1, or 0 if there is no result.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_run() -> u32 {
    std::panic::set_hook(Box::new(|info| put(info.to_string().as_bytes(), Vec::new())));
    let request = INPUT.take();
    let answered = String::from_utf8(request)
        .map_err(|error| Refused(error.to_string()))
        .and_then(|request| run(&request, &mut |part| progress(part)));
    match answered {
        Ok(Answer { result, recording }) => {
            put(result.as_bytes(), recording);
            1
        }
        Err(Refused(why)) => {
            put(why.as_bytes(), Vec::new());
            0
        }
    }
}

/// Puts what is said of each measure where the text is, as JSON: see `manetlab_core::observe::measures`.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_measures() {
    let table = serde_json::to_vec(&manetlab_core::observe::measures::MeasureTable::new());
    put(&table.unwrap_or_default(), Vec::new());
}

/// The address of an output, until the next run.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_output(what: u32) -> *const u8 {
    OUTPUTS.with_borrow(|outputs| outputs.get(what as usize).map_or(std::ptr::null(), |each| each.as_ptr()))
}

/// The length of an output.
#[expect(unsafe_code, reason = "the host finds it by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn manetlab_output_bytes(what: u32) -> usize {
    OUTPUTS.with_borrow(|outputs| outputs.get(what as usize).map_or(0, Vec::len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_measures_is_put_where_the_text_is() {
        manetlab_measures();
        let text = OUTPUTS.with_borrow(|outputs| outputs[TEXT as usize].clone());
        let table: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        assert_eq!(table["totals"][0]["name"], "tcp_throughput_bps");
        assert_eq!(manetlab_output_bytes(TEXT), text.len());
    }
}
