// SPDX-License-Identifier: Apache-2.0
//! Converts the header's Doxygen comments to rustdoc's Markdown.

/// Parameters become a list, and a result becomes a sentence. `Errors:` and similar lines become paragraphs. Characters that
/// Markdown would interpret are escaped.
pub(crate) fn to_markdown(comment: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut in_parameter = false;
    for line in comment.lines() {
        // The source has a space after the star of each line. A line with more indentation
        // continues a parameter.
        let text = line.strip_prefix(' ').unwrap_or(line);
        if let Some(parameter) = text.strip_prefix("@param ") {
            let (name, rest) = split_parameter(parameter);
            lines.push(format!("- `{name}`: {}", escape(rest)));
            in_parameter = true;
            continue;
        }
        if in_parameter && text.starts_with(' ') {
            lines.push(format!("  {}", escape(text.trim_start())));
            continue;
        }
        if in_parameter && !text.is_empty() {
            lines.push(String::new());
        }
        in_parameter = false;
        if PARAGRAPHS.iter().any(|start| text.starts_with(start)) {
            lines.push(String::new());
        }
        let text = text.trim_start();
        lines.push(escape(&text.replacen("@return ", "Returns ", 1)));
    }
    lines.dedup_by(|next, last| next.is_empty() && last.is_empty());
    lines.join("\n").trim().to_string()
}

const PARAGRAPHS: [&str; 3] = ["Errors:", "Implements:", "Thread-safety:"];

/// Splits a parameter into its names, separated by commas, and its text.
fn split_parameter(parameter: &str) -> (&str, &str) {
    let mut end = parameter.find(' ').unwrap_or(parameter.len());
    while parameter[..end].ends_with(',') {
        end = parameter[end + 1..]
            .find(' ')
            .map_or(parameter.len(), |next| end + 1 + next);
    }
    (&parameter[..end], parameter[end..].trim_start())
}

/// Escapes brackets outside of `code`, and a `-` or `#` at the start of a line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut in_code = false;
    for character in text.chars() {
        match character {
            '`' => in_code = !in_code,
            '[' | ']' | '<' | '>' | '*' | '_' if !in_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::to_markdown;

    #[test]
    fn parameters_become_a_list_and_errors_a_paragraph() {
        let comment = " Do it.\n\n @param to    where,\n              and how.\n @param offset, length  rows.\n @return 0.\n\n \
                       Errors: EINVAL `a[0]` in [it].\n Thread-safety: free.";
        assert_eq!(
            to_markdown(comment),
            "Do it.\n\n- `to`: where,\n  and how.\n- `offset, length`: rows.\n\nReturns 0.\n\nErrors: EINVAL `a[0]` in \\[it\\].\n\n\
             Thread-safety: free."
        );
    }
}
