//! Converts a schema's JSON to kinds of values. Every keyword is read, ignored (annotations) or
//! refused. The error gives the name and position of a refused keyword.

use crate::{
    json::Json,
    nfa::TooLarge,
    node::{Node, NodeId, Object, Property},
    number::{Bound, MOST_DIVISOR, Numbers},
    pattern::Pattern,
    read::{Read, Reader, Refused},
    string_format::format_pattern,
};

type Fields<'a> = &'a [(String, Json)];

/// Maximum number of kinds of values, in all schemas of a request together.
const MOST_NODES: usize = 10_000;
/// Maximum nesting of schemas.
const MOST_DEPTH: usize = 64;
/// Maximum value of `minLength`, `minItems` and similar keywords.
const MOST_COUNT: u64 = 1_000_000;

/// Keywords that do not restrict values.
const ANNOTATIONS: [&str; 12] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$defs",
    "definitions",
];
/// Keywords that are read if the schema has no `$ref`, `allOf`, `anyOf`, `oneOf`, `const` or
/// `enum`. (`type` is also read together with `const` or `enum`.)
const READ: [&str; 17] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// A document, and the text that precedes JSON pointers into it in error messages.
#[derive(Clone, Copy)]
struct Document<'a> {
    pub(crate) root: &'a Json,
    pub(crate) before: &'a str,
}

impl Reader {
    /// Reads a document. In error messages, JSON pointers into it begin with `before`.
    pub(crate) fn document(&mut self, root: &Json, before: &str) -> Read<NodeId> {
        self.known.clear();
        self.schema(Document { root, before }, root, "")
    }

    /// Reads `json`, the schema at position `place` of a document, unless it was read before.
    fn schema(&mut self, document: Document<'_>, json: &Json, place: &str) -> Read<NodeId> {
        if let Some(&id) = self.known.get(place) {
            return Ok(id);
        }
        let pointer = format!("{}{place}", document.before);
        let refuse = |problem: String| Refused { pointer: pointer.clone(), problem };
        // The id is stored before the contents are read, because they may refer to it.
        let id = self.add(Node::Never, &pointer);
        self.known.insert(place.to_owned(), id);
        if self.nodes.all.len() > MOST_NODES {
            return Err(refuse(format!("found more than {MOST_NODES} schemas")));
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(refuse(format!("found more than {MOST_DEPTH} nested schemas")));
        }
        let node = match json {
            Json::Bool(true) => Node::Union(vec![self.any()]),
            Json::Bool(false) => Node::Never,
            Json::Object(fields) => {
                let mut one = One { reader: self, document, fields, place, id };
                one.read()?
            }
            other => {
                return Err(refuse(format!("found {}, expected a schema", other.kind())));
            }
        };
        self.depth -= 1;
        self.nodes.all[id as usize] = node;
        Ok(id)
    }
}

/// A schema object that is being read.
struct One<'r, 'a> {
    reader: &'r mut Reader,
    document: Document<'a>,
    fields: Fields<'a>,
    place: &'a str,
    id: NodeId,
}

impl<'a> One<'_, 'a> {
    fn get(&self, name: &str) -> Option<&'a Json> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn refuse<T>(&self, below: &str, problem: impl Into<String>) -> Read<T> {
        let pointer = format!("{}{}{below}", self.document.before, self.place);
        Err(Refused { pointer, problem: problem.into() })
    }

    fn wrong<T>(&self, name: &str, found: &Json, expected: &str) -> Read<T> {
        let found = found.kind();
        self.refuse(&format!("/{name}"), format!("found {found}, expected {expected}"))
    }

    fn fit<T>(&self, name: &str, result: Result<T, TooLarge>) -> Read<T> {
        let problem = "its automaton becomes too large";
        let below = if name.is_empty() { String::new() } else { format!("/{name}") };
        result.or_else(|_| self.refuse(&below, problem))
    }

    /// Refuses every keyword that is not `name`, in `with`, or an annotation.
    fn alone(&self, name: &str, with: &[&str]) -> Read<()> {
        for (key, _) in self.fields {
            let key = key.as_str();
            if key != name && !with.contains(&key) && !ANNOTATIONS.contains(&key) {
                let problem = format!("{key:?} together with {name:?} is not supported");
                return self.refuse(&format!("/{}", escaped(key)), problem);
            }
        }
        Ok(())
    }

    /// Reads `json`, a schema inside this one. `steps` is its position in this schema.
    fn below(&mut self, json: &Json, steps: &str) -> Read<NodeId> {
        let place = format!("{}/{steps}", self.place);
        self.reader.schema(self.document, json, &place)
    }

    fn read(&mut self) -> Read<Node> {
        const ABOVE: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "const", "enum"];
        for (key, _) in self.fields {
            let key = key.as_str();
            let known = [&ANNOTATIONS[..], &READ, &ABOVE].iter().any(|all| all.contains(&key));
            if !known || (key == "$id" && !self.place.is_empty()) {
                let below = format!("/{}", escaped(key));
                return self.refuse(&below, format!("{key:?} is not supported"));
            }
        }
        let Some(&name) = ABOVE.iter().find(|name| self.get(name).is_some()) else {
            return self.typed();
        };
        let value = self.get(name).expect("it was found");
        let with: &[&str] = if matches!(name, "const" | "enum") { &["type"] } else { &[] };
        self.alone(name, with)?;
        match (name, value) {
            ("$ref", Json::Text(to)) => self.reference(to),
            ("$ref", other) => self.wrong(name, other, "a string"),
            ("const", value) => self.values(name, &[value]),
            ("enum", Json::List(all)) if !all.is_empty() => {
                self.values(name, &all.iter().collect::<Vec<_>>())
            }
            ("allOf", Json::List(all)) if all.len() > 1 => {
                self.refuse("/allOf", "\"allOf\" of more than one schema is not supported")
            }
            ("allOf" | "anyOf" | "oneOf", Json::List(all)) if !all.is_empty() => {
                let mut nodes = Vec::new();
                for (i, json) in all.iter().enumerate() {
                    nodes.push(self.below(json, &format!("{name}/{i}"))?);
                }
                if name == "oneOf" {
                    self.reader.exclusive.push((self.id, nodes.clone()));
                }
                Ok(Node::Union(nodes))
            }
            (name, other) => self.wrong(name, other, "a non-empty array"),
        }
    }

    fn reference(&mut self, to: &str) -> Read<Node> {
        let Some(place) = to.strip_prefix('#') else {
            let problem = format!("found {to:?}, expected a reference that begins with #");
            return self.refuse("/$ref", problem);
        };
        let Some(json) = self.document.root.at(place) else {
            return self.refuse("/$ref", format!("found {to:?}, which points to nothing"));
        };
        Ok(Node::Union(vec![self.reader.schema(self.document, json, place)?]))
    }

    fn values(&mut self, name: &str, values: &[&Json]) -> Read<Node> {
        let types = self.types()?;
        let fits = |value: &&&Json| types.iter().any(|one| is_of(value, one));
        let values: Vec<&Json> = values.iter().filter(fits).copied().collect();
        let node = self.reader.values(&values);
        self.fit(name, node)
    }

    /// Returns the types that the schema's keyword `type` allows, or all types if it is absent.
    fn types(&self) -> Read<Vec<&'a str>> {
        const TYPES: [&str; 7] =
            ["null", "boolean", "object", "array", "number", "string", "integer"];
        let known = |name: &'a str| match TYPES.contains(&name) {
            true => Ok(name),
            false => self.refuse("/type", format!("found {name:?}, expected one of {TYPES:?}")),
        };
        match self.get("type") {
            None => Ok(TYPES[..6].to_vec()),
            Some(Json::Text(name)) => Ok(vec![known(name)?]),
            Some(Json::List(all)) if !all.is_empty() => {
                let mut types = Vec::new();
                for value in all {
                    let Json::Text(name) = value else {
                        return self.wrong("type", value, "strings");
                    };
                    types.push(known(name)?);
                }
                if types.contains(&"number") {
                    types.retain(|&name| name != "integer");
                }
                Ok(types)
            }
            Some(other) => self.wrong("type", other, "a string or an array of strings"),
        }
    }

    fn typed(&mut self) -> Read<Node> {
        let types = self.types()?;
        let mut all = Vec::new();
        let without = self.fields.iter().all(|(key, _)| ANNOTATIONS.contains(&key.as_str()));
        if without {
            return Ok(Node::Union(vec![self.reader.any()]));
        }
        for name in types {
            let node = match name {
                "null" => self.words(&[Json::Null])?,
                "boolean" => self.words(&[Json::Bool(false), Json::Bool(true)])?,
                "integer" | "number" => self.number(name == "integer")?,
                "string" => self.string()?,
                "array" => self.array()?,
                _ => self.object()?,
            };
            all.push(node);
        }
        if all.len() == 1 {
            return Ok(all.remove(0));
        }
        let pointer = format!("{}{}", self.document.before, self.place);
        Ok(Node::Union(all.into_iter().map(|node| self.reader.add(node, &pointer)).collect()))
    }

    fn words(&mut self, words: &[Json]) -> Read<Node> {
        let node = self.reader.values(&words.iter().collect::<Vec<_>>());
        self.fit("", node)
    }

    /// Returns the count that the keyword `name` gives, or `None` if it is absent.
    fn count(&self, name: &str) -> Read<Option<u32>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let count = match value {
            Json::Number(number) => number.as_u64().or_else(|| {
                let float = number.as_f64().filter(|x| x.fract() == 0.0 && *x >= 0.0);
                float.map(|x| x as u64)
            }),
            _ => None,
        };
        match count {
            Some(count) if count <= MOST_COUNT => Ok(Some(count as u32)),
            Some(_) => {
                let problem = format!("a count above {MOST_COUNT} is not supported");
                self.refuse(&format!("/{name}"), problem)
            }
            None => self.wrong(name, value, "a whole number of at least 0"),
        }
    }

    fn number(&mut self, whole: bool) -> Read<Node> {
        let mut numbers = Numbers { whole, divisor: 1, ..Numbers::default() };
        for (name, inclusive) in [
            ("minimum", true),
            ("exclusiveMinimum", false),
            ("maximum", true),
            ("exclusiveMaximum", false),
        ] {
            let bound = match self.get(name) {
                None => continue,
                Some(Json::Number(number)) => Bound::new(number, inclusive),
                Some(other) => return self.wrong(name, other, "a number"),
            };
            let minimum = name.ends_with("inimum");
            if minimum { &mut numbers.least } else { &mut numbers.most }.push(bound);
        }
        match self.get("multipleOf") {
            None => {}
            Some(Json::Number(number)) => {
                let divisor = number.as_u64().filter(|&n| n > 0 && n <= MOST_DIVISOR.into());
                let Some(divisor) = divisor.filter(|_| whole) else {
                    let problem = format!(
                        "\"multipleOf\" is supported only for the type integer, from 1 to \
                         {MOST_DIVISOR}"
                    );
                    return self.refuse("/multipleOf", problem);
                };
                numbers.divisor = divisor as u32;
            }
            Some(other) => return self.wrong("multipleOf", other, "a number"),
        }
        let node = self.reader.number(&numbers);
        self.fit("", node)
    }

    fn string(&mut self) -> Read<Node> {
        let (least, most) = (self.count("minLength")?.unwrap_or(0), self.count("maxLength")?);
        let (name, pattern) = match (self.get("pattern"), self.get("format")) {
            (None, None) if most.is_some_and(|most| most < least) => return Ok(Node::Never),
            (None, None) => return Ok(Node::Text { least, most }),
            (Some(Json::Text(pattern)), None) => ("pattern", pattern.clone()),
            (None, Some(Json::Text(name))) => match format_pattern(name) {
                Some(pattern) => ("format", pattern),
                None => return self.refuse("/format", format!("{name:?} is not supported")),
            },
            (Some(_), Some(_)) => {
                return self
                    .refuse("/format", "\"format\" together with \"pattern\" is not supported");
            }
            (Some(other), _) => return self.wrong("pattern", other, "a string"),
            (_, Some(other)) => return self.wrong("format", other, "a string"),
        };
        let pattern = match Pattern::parse(&pattern) {
            Ok(pattern) => pattern,
            Err(problem) => return self.refuse(&format!("/{name}"), problem),
        };
        let node = self.reader.pattern(&pattern, (least, most));
        self.fit(name, node)
    }

    fn array(&mut self) -> Read<Node> {
        let (least, most) = (self.count("minItems")?.unwrap_or(0), self.count("maxItems")?);
        match self.get("uniqueItems") {
            None | Some(Json::Bool(false)) => {}
            Some(_) => {
                return self.refuse("/uniqueItems", "\"uniqueItems\" is not supported");
            }
        }
        let items = match self.get("items") {
            None => self.reader.any(),
            Some(json) => self.below(json, "items")?,
        };
        let none = most.is_some_and(|most| most < least);
        Ok(if none { Node::Never } else { Node::Array { items, least, most } })
    }

    fn object(&mut self) -> Read<Node> {
        let mut object = Object {
            others: match self.get("additionalProperties") {
                None => Some(self.reader.any()),
                Some(Json::Bool(false)) => None,
                Some(json) => Some(self.below(json, "additionalProperties")?),
            },
            ..Object::default()
        };
        let mut required = Vec::new();
        match self.get("required") {
            None => {}
            Some(Json::List(all)) => {
                for value in all {
                    let Json::Text(name) = value else {
                        return self.wrong("required", value, "strings");
                    };
                    required.push(name.as_str());
                }
            }
            Some(other) => return self.wrong("required", other, "an array of strings"),
        }
        let listed = match self.get("properties") {
            None => &[][..],
            Some(Json::Object(fields)) => fields,
            Some(other) => return self.wrong("properties", other, "an object"),
        };
        for (name, json) in listed {
            let value = self.below(json, &format!("properties/{}", escaped(name)))?;
            let required = required.contains(&name.as_str());
            object.properties.push(Property { name: name.clone(), value, required });
        }
        for name in required {
            if object.properties.iter().any(|property| property.name == name) {
                continue;
            }
            let pointer = format!("{}{}", self.document.before, self.place);
            let value = match object.others {
                Some(others) => others,
                None => self.reader.add(Node::Never, &pointer),
            };
            object.properties.push(Property { name: name.to_owned(), value, required: true });
        }
        Ok(Node::Object(object))
    }
}

/// Escapes a name for a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn is_of(value: &Json, name: &str) -> bool {
    match value {
        Json::Null => name == "null",
        Json::Bool(_) => name == "boolean",
        Json::Number(number) => {
            let whole = number.as_f64().is_some_and(|x| x.fract() == 0.0);
            name == "number" || name == "integer" && whole
        }
        Json::Text(_) => name == "string",
        Json::List(_) => name == "array",
        Json::Object(_) => name == "object",
    }
}
