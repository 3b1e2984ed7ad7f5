//! Digests of the simulator's modules, by which kept results are known to be those of this code, and of the
//! stub, by which Python knows that the extension fits its sources.
//!
//! A module's digest is that of its tokens, so comments and white space do not count, and neither do
//! documentation and what is only compiled for tests. Modules are found as the compiler finds them: from a
//! crate's root along its `mod` declarations.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use sha2::{Digest, Sha256};

/// The roots of the crates that have a part in a run, and what is put before the names of their modules.
const ROOTS: [(&str, &str); 4] = [
    ("../core/src/lib.rs", ""),
    ("../formats/src/lib.rs", "formats"),
    ("../resolver/src/lib.rs", "resolver"),
    ("src/lib.rs", "py"),
];
/// What Python expects of this module: an extension built with another does not fit the Python sources.
const STUB: &str = "../../python/manetlab/_core.pyi";
/// Bytes of a digest that are kept: a change is not found with a chance of 2⁻⁶⁴.
const DIGEST_BYTES: usize = 8;
/// Crates on whose version the value of a number may depend.
const NUMERIC: [&str; 3] = ["libm", "rand_chacha", "rand_core"];

type Found<T> = Result<T, Box<dyn Error>>;

fn main() -> Found<()> {
    let mut modules = Vec::new();
    for (root, name) in ROOTS {
        visit(Path::new(root), name, &mut modules)?;
    }
    modules.push(("dependencies".to_owned(), digest(&versions(&fs::read_to_string("../../Cargo.lock")?))));
    modules.sort();
    let mut text = String::from("&[\n");
    for (name, digest) in modules {
        writeln!(text, "    ({name:?}, {digest:?}),")?;
    }
    text.push_str("]\n");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::write(out.join("modules.rs"), text)?;
    fs::write(out.join("interface.txt"), digest(&fs::read_to_string(STUB)?))?;
    for watched in
        ["build.rs", "src", "../core/src", "../formats/src", "../resolver/src", "../../Cargo.lock", STUB]
    {
        println!("cargo::rerun-if-changed={watched}");
    }
    Ok(())
}

/// Adds a module and those that it declares.
fn visit(path: &Path, name: &str, modules: &mut Vec<(String, String)>) -> Found<()> {
    let source = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let tokens: TokenStream = source.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut text, mut declared) = (String::new(), Vec::new());
    write_tokens(tokens, &mut text, Some(&mut declared));
    let is_root = path.ends_with("lib.rs");
    modules.push((if is_root { join(name, "lib") } else { name.to_owned() }, digest(&text)));
    let folder = if is_root || path.ends_with("mod.rs") {
        path.parent().map(Path::to_path_buf)
    } else {
        Some(path.with_extension(""))
    };
    let folder = folder.ok_or("a source without a folder")?;
    for module in declared {
        let file = folder.join(format!("{module}.rs"));
        let file = if file.exists() { file } else { folder.join(&module).join("mod.rs") };
        visit(&file, &join(name, &module), modules)?;
    }
    Ok(())
}

fn join(name: &str, module: &str) -> String {
    if name.is_empty() { module.to_owned() } else { format!("{name}/{module}") }
}

/// Writes tokens, one after the other, without documentation and without items that only tests have.
///
/// `declared` gets the modules that are declared at this level and are in files of their own.
fn write_tokens(tokens: TokenStream, text: &mut String, mut declared: Option<&mut Vec<String>>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut before = String::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                let inner =
                    tokens.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!'));
                let bracket = |next: &TokenTree| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
                let Some(TokenTree::Group(attribute)) = tokens.next_if(bracket) else {
                    text.push_str("# ");
                    continue;
                };
                let words = attribute.stream().to_string().replace(' ', "");
                if words == "cfg(test)" {
                    skip_item(&mut tokens);
                } else if !words.starts_with("doc=") {
                    text.push_str(if inner.is_some() { "#![" } else { "#[" });
                    write_tokens(attribute.stream(), text, None);
                    text.push_str("] ");
                }
                before.clear();
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("( ", ") "),
                    Delimiter::Brace => ("{ ", "} "),
                    Delimiter::Bracket => ("[ ", "] "),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write_tokens(group.stream(), text, None);
                text.push_str(close);
                before.clear();
            }
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if before == "mod"
                    && let Some(declared) = declared.as_deref_mut()
                    && matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == ';')
                {
                    declared.push(word.clone());
                }
                text.push_str(&word);
                text.push(' ');
                before = word;
            }
            TokenTree::Punct(mark) => {
                text.push(mark.as_char());
                // A mark that is joined to the next one is another operator than the two apart.
                if mark.spacing() == proc_macro2::Spacing::Alone {
                    text.push(' ');
                }
                before.clear();
            }
            TokenTree::Literal(literal) => {
                text.push_str(&literal.to_string());
                text.push(' ');
                before.clear();
            }
        }
    }
}

/// Passes over an item and the attributes before it: up to its braces or its semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}

/// The lines of the lock file that give the versions of the crates that count.
fn versions(lock: &str) -> String {
    let mut text = String::new();
    for package in lock.split("[[package]]") {
        let names = NUMERIC.map(|name| format!("name = \"{name}\""));
        if package.lines().any(|line| names.iter().any(|name| name == line)) {
            text.push_str(package.trim());
            text.push('\n');
        }
    }
    text
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..DIGEST_BYTES].iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
