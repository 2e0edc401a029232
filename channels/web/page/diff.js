// A unified diff, line by line: what kind each line is, for its colour. Pure.

export function diffLines(text) {
  let inHunk = false;
  return text.split("\n").map((line) => {
    if (line.startsWith("@@")) {
      inHunk = true;
      return { kind: "hunk", text: line };
    }
    if (!inHunk || /^(diff |index |\\ )/.test(line)) return { kind: "meta", text: line };
    // Between hunks of two files the next header looks like a removed and an added line.
    if (/^--- \S/.test(line)) {
      inHunk = false;
      return { kind: "meta", text: line };
    }
    if (line.startsWith("+")) return { kind: "added", text: line };
    if (line.startsWith("-")) return { kind: "removed", text: line };
    return { kind: "same", text: line };
  });
}
