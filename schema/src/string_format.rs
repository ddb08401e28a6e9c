//! Formats of strings as regular expressions.

/// A valid date, from the year 1 to 9999.
const DATE: &str = concat!(
    "(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-",
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|",
    "02-(?:0[1-9]|1[0-9]|2[0-8]))|",
    "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)"
);
/// A time as in RFC 3339, without leap seconds, with at most nine decimals.
const TIME: &str = concat!(
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,9})?",
    "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
);
const UUID: &str = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/// An address as in RFC 5322, without quotes and comments.
const EMAIL: &str = concat!(
    "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:[.][A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@",
    "[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*(?:[.][A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*)*"
);
const BYTE: &str = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";

/// Returns the pattern of a format, or `None` if the format is not supported.
pub(crate) fn format_pattern(name: &str) -> Option<String> {
    let pattern = match name {
        "date" => DATE.to_owned(),
        "time" => TIME.to_owned(),
        "date-time" => format!("{DATE}T{TIME}"),
        "uuid" => UUID.to_owned(),
        "email" => EMAIL.to_owned(),
        "ipv4" => format!("{BYTE}(?:[.]{BYTE}){{3}}"),
        _ => return None,
    };
    Some(format!("^{pattern}$"))
}
