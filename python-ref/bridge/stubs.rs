//! Generates the type stub of a module.

use std::collections::BTreeSet;

use syn::{
    Attribute, Expr, Fields, FnArg, GenericArgument, Ident, ImplItem, Item, ItemImpl, ItemStruct,
    Lit, LitStr, Pat, PathArguments, ReturnType, Signature, Token, Type, TypeArray, TypeSlice,
    braced, parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::Module;

/// Python types of callback arguments, by argument name. In Rust, they are only `PyAny`.
const CALLED: [(&str, &str); 3] = [
    ("choose", "abc.Callable[[Array, list[int]], int]"),
    ("next_logits", "abc.Callable[[list[int]], Numbers]"),
    ("on_token", "abc.Callable[[int], object]"),
];

/// Python types, each with the Rust types that map to it.
const NAMES: [(&str, &[&str]); 14] = [
    ("bool", &["bool"]),
    ("bytes", &["Octets", "PyBytes"]),
    ("dict[str, Array]", &["PyDict"]),
    ("float", &["Double", "Lowest", "Real", "f32", "f64"]),
    ("int", &["Count", "Long", "Token", "usize", "u16", "u32", "u64", "i8", "i16", "i64"]),
    ("object", &["PyAny"]),
    ("str", &["String", "str"]),
    ("str | PathLike[str]", &["PathBuf"]),
    ("u8", &["u8"]),
    ("Ids", &["Ids"]),
    ("Numbers", &["Floats"]),
    ("abc.Set[int]", &["Tokens"]),
    ("bool | int | float | str | list[str]", &["MetadataValue"]),
    ("tuple[int, int]", &["Work"]),
];

/// The state of a stub while it is generated.
pub(crate) struct Stub<'a> {
    module: &'a Module,
    all: &'a [Module],
    imports: BTreeSet<String>,
    text: String,
}

impl<'a> Stub<'a> {
    pub(crate) fn of(module: &'a Module, all: &'a [Module]) -> String {
        let mut stub = Self { module, all, imports: BTreeSet::new(), text: String::new() };
        for item in &module.file.items {
            match item {
                Item::Fn(item) if is(&item.attrs, "pyfunction") => {
                    stub.text.push('\n');
                    stub.function(&item.sig, &item.attrs, None);
                }
                Item::Struct(item) if is(&item.attrs, "pyclass") => stub.class(item),
                item => stub.text += &Choice::of(item).map_or_else(String::new, Choice::stub),
            }
        }
        stub.imports.into_iter().collect::<String>() + &stub.text
    }

    fn class(&mut self, item: &ItemStruct) {
        let name = item.ident.to_string();
        self.text += &format!("\n@final\nclass {name}:\n{}", docstring(&item.attrs, "    "));
        let module = self.module;
        let blocks = module.file.items.iter().filter_map(|item| match item {
            Item::Impl(block) if is(&block.attrs, "pymethods") => Some(block),
            _ => None,
        });
        let own = |block: &&ItemImpl| match &*block.self_ty {
            Type::Path(class) => class.path.is_ident(&name),
            _ => false,
        };
        let methods = blocks.filter(own).flat_map(|block| &block.items);
        let methods = methods.filter_map(|item| match item {
            ImplItem::Fn(item) if item.sig.ident != "__repr__" => Some((&item.sig, &item.attrs)),
            _ => None,
        });
        let methods: Vec<_> = methods.collect();
        if !methods.iter().any(|(_, attrs)| is(attrs, "new")) {
            self.text += "    # Another function makes it.\n";
            self.text += &format!("    def __new__(cls, never: NoReturn, /) -> {name}: ...\n");
        }
        if let (Fields::Named(fields), true) = (&item.fields, has_getters(item)) {
            for field in &fields.named {
                let (field_name, attrs) = (field.ident.as_ref().expect("a name"), &field.attrs);
                let ty = self.python(&field.ty, true, (module, &name));
                self.text += &format!("    @property\n    def {field_name}(self) -> {ty}:");
                self.text += &body(attrs, "    ");
            }
        }
        for (sig, attrs) in methods {
            self.function(sig, attrs, Some(&name));
        }
    }

    fn function(&mut self, sig: &Signature, attrs: &[Attribute], class: Option<&str>) {
        let (indent, scope) = (if class.is_some() { "    " } else { "" }, class.unwrap_or(""));
        let (new, plain) = (is(attrs, "new"), is(attrs, "staticmethod") || class.is_none());
        let name = if new { "__new__".to_owned() } else { sig.ident.to_string() };
        for (attribute, python) in [("getter", "property"), ("staticmethod", "staticmethod")] {
            if is(attrs, attribute) {
                self.text += &format!("{indent}@{python}\n");
            }
        }
        let mut given = match (new, plain) {
            (true, _) => vec!["cls".to_owned()],
            (_, true) => Vec::new(),
            _ => vec!["self".to_owned()],
        };
        let defaults = defaults(attrs);
        for input in &sig.inputs {
            let FnArg::Typed(input) = input else { continue };
            let Pat::Ident(argument) = &*input.pat else {
                panic!("{name}: an argument has no name")
            };
            let argument = argument.ident.to_string();
            if argument == "py" || argument == "this" {
                continue;
            }
            let called = CALLED.iter().find(|(name, _)| *name == argument);
            let mut text = called.map_or_else(
                || self.python(&input.ty, false, (self.module, scope)),
                |(_, ty)| (*ty).to_owned(),
            );
            let at = defaults.iter().position(|(name, _)| *name == argument);
            if let Some(at) = at {
                text += &defaults[at].1;
                if at > 0 && defaults[at - 1].0 == "*" {
                    given.push("*".to_owned());
                }
            }
            given.push(format!("{argument}: {text}"));
        }
        let found = match &sig.output {
            _ if new => scope.to_owned(),
            ReturnType::Default => "None".to_owned(),
            ReturnType::Type(_, ty) => self.python(ty, true, (self.module, scope)),
        };
        // An iterator raises StopIteration at its end, so it never returns None.
        let found = if name == "__next__" { found.replace(" | None", "") } else { found };
        self.text += &format!("{indent}def {name}({}) -> {found}:", given.join(", "));
        let documented = if name.starts_with("__") { &[] } else { attrs };
        self.text += &body(documented, indent);
    }

    /// Returns the Python type of a return value (if `out`) or of an argument. `scope` is the
    /// module and the class in which the type occurs.
    fn python(&mut self, ty: &Type, out: bool, scope: (&'a Module, &str)) -> String {
        let path = match ty {
            Type::Reference(ty) => return self.python(&ty.elem, out, scope),
            Type::Array(TypeArray { elem, .. }) | Type::Slice(TypeSlice { elem, .. }) => {
                return sequence(&self.python(elem, out, scope), out);
            }
            Type::Tuple(ty) if ty.elems.is_empty() => return "None".to_owned(),
            Type::Tuple(ty) => {
                let parts: Vec<_> = ty.elems.iter().map(|ty| self.python(ty, out, scope)).collect();
                return format!("tuple[{}]", parts.join(", "));
            }
            Type::Path(ty) => &ty.path,
            _ => panic!("{}: found a type without a path", scope.0.source.display()),
        };
        let last = path.segments.last().expect("a path has a last part");
        let mut parts = Vec::new();
        if let PathArguments::AngleBracketed(arguments) = &last.arguments {
            parts.extend(arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(self.python(ty, out, scope)),
                _ => None,
            }));
        }
        let name = last.ident.to_string();
        match (name.as_str(), &parts[..]) {
            ("PyResult" | "Bound", [part]) => part.clone(),
            ("Option", [part]) => format!("{part} | None"),
            ("Vec", [part]) => sequence(part, out),
            ("HashSet", [part]) => format!("set[{part}]"),
            ("HashMap", [key, value]) => format!("abc.Mapping[{key}, {value}]"),
            ("Self" | "PyRef", _) => scope.1.to_owned(),
            ("Floats", _) if out => "Array".to_owned(),
            _ => match NAMES.iter().find(|(_, rust)| rust.contains(&name.as_str())) {
                Some((python, _)) => (*python).to_owned(),
                None => self.named(&name, out, scope),
            },
        }
    }

    /// Returns the Python type of a class or an alias. Imports a class of another module.
    fn named(&mut self, name: &str, out: bool, scope: (&'a Module, &str)) -> String {
        let origin = scope.0.origin(name).unwrap_or_else(|| scope.0.path.clone());
        let all = self.all.iter().chain([self.module]);
        // The prelude imports the classes of `kit`.
        let home = |module: &&Module| module.path == origin || module.path == ["kit"];
        if let Some(class) = all.clone().filter(home).find(|module| module.has_class(name)) {
            let from = match &*class.path {
                path if *path == self.module.path => return name.to_owned(),
                [kit] => format!("{}{kit}", self.module.root()),
                [week, file] if *week == self.module.path[0] => format!(".{file}"),
                path => format!("..{}", path.join(".")),
            };
            self.imports.insert(format!("from {from} import {name}\n"));
            return name.to_owned();
        }
        let alias =
            [scope.0].into_iter().chain(all).find_map(|module| Some((module, module.alias(name)?)));
        let (module, ty) = alias
            .unwrap_or_else(|| panic!("{}: what is {name} in Python?", scope.0.source.display()));
        self.python(ty, out, (module, scope.1))
    }
}

fn sequence(part: &str, out: bool) -> String {
    match part {
        "u8" => "bytes".to_owned(),
        _ if out => format!("list[{part}]"),
        _ => format!("abc.Sequence[{part}]"),
    }
}

/// An enumeration that the macro `choice` defines.
pub(crate) struct Choice {
    attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    members: Punctuated<(Ident, LitStr), Token![,]>,
}

impl Choice {
    pub(crate) fn of(item: &Item) -> Option<Self> {
        match item {
            Item::Macro(item) if item.mac.path.is_ident("choice") => item.mac.parse_body().ok(),
            _ => None,
        }
    }

    fn stub(self) -> String {
        let mut text = format!("\nclass {}(enum.Enum):\n", self.name);
        text += &docstring(&self.attrs, "    ");
        for (name, value) in self.members {
            text += &format!("    {name} = {:?}\n", value.value());
        }
        text
    }
}

impl Parse for Choice {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, name) = (input.call(Attribute::parse_outer)?, input.parse()?);
        input.parse::<Token![=]>()?;
        input.parse::<syn::Path>()?;
        let content;
        braced!(content in input);
        let member = |input: ParseStream<'_>| {
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            Ok((name, input.parse()?))
        };
        let members = content.parse_terminated(member, Token![,])?;
        Ok(Self { attrs, name, members })
    }
}

pub(crate) fn is(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident(name))
}

/// Returns whether every field of a class has a getter, as with `#[pyclass(get_all)]`.
fn has_getters(item: &ItemStruct) -> bool {
    let all = |attr: &Attribute| {
        let options = attr.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated);
        options.is_ok_and(|options| options.iter().any(|option| option == "get_all"))
    };
    item.attrs.iter().filter(|attr| attr.path().is_ident("pyclass")).any(all)
}

/// Returns the names in `#[pyo3(signature)]`, each with its default, such as ` = 0`.
fn defaults(attrs: &[Attribute]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("pyo3")) {
        let parsed = attr.parse_nested_meta(|meta| {
            let value = meta.value()?;
            if !meta.path.is_ident("signature") {
                return value.parse::<Expr>().map(drop);
            }
            let content;
            parenthesized!(content in value);
            while !content.is_empty() {
                if content.parse::<Option<Token![*]>>()?.is_some() {
                    found.push(("*".to_owned(), String::new()));
                } else {
                    let name = content.parse::<Ident>()?.to_string();
                    let default = match content.parse::<Option<Token![=]>>()? {
                        Some(_) => format!(" = {}", default(&content.parse()?)),
                        None => String::new(),
                    };
                    found.push((name, default));
                }
                content.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        });
        parsed.expect("a signature that PyO3 takes");
    }
    found
}

/// Returns a default as a Python literal, such as 3 for `Count(3)`. Others become `...`.
fn default(value: &Expr) -> String {
    match value {
        Expr::Lit(value) => match &value.lit {
            Lit::Str(text) => format!("{:?}", text.value()),
            Lit::Bool(yes) => if yes.value { "True" } else { "False" }.to_owned(),
            Lit::Int(number) => number.base10_digits().to_owned(),
            Lit::Float(number) => number.base10_digits().to_owned(),
            _ => "...".to_owned(),
        },
        Expr::Call(call) if call.args.len() == 1 => default(&call.args[0]),
        Expr::Path(path) if path.path.is_ident("None") => "None".to_owned(),
        _ => "...".to_owned(),
    }
}

/// Returns what follows the colon of a function: its docstring, or `...`.
fn body(attrs: &[Attribute], indent: &str) -> String {
    match docstring(attrs, &format!("{indent}    ")) {
        text if text.is_empty() => " ...\n".to_owned(),
        text => format!("\n{text}"),
    }
}

/// Returns the doc comment as a docstring, or an empty text if there is none.
fn docstring(attrs: &[Attribute], indent: &str) -> String {
    let lines = attrs.iter().filter_map(|attr| {
        let Expr::Lit(line) = &attr.meta.require_name_value().ok()?.value else { return None };
        let Lit::Str(line) = &line.lit else { return None };
        let line = line.value();
        Some(line.strip_prefix(' ').unwrap_or(&line).to_owned())
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("{indent}\"\"\"{}", lines[0]);
    for line in &lines[1..] {
        text += format!("\n{indent}{line}").trim_end_matches(' ');
    }
    // The closing quotes of several lines are on their own line.
    text += &if lines.len() > 1 { format!("\n{indent}") } else { String::new() };
    text + "\"\"\"\n"
}
