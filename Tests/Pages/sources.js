// Finds texts in the source of a script: literals, and the arguments of calls. It knows as much of the language as the pages use.

/** Passes the string, template, comment or regular expression at `at`, and returns its end; `at` if there is none. */
function passed(source, at) {
  const two = source.slice(at, at + 2);
  if (two === '//') return source.indexOf('\n', at);
  if (two === '/*') return source.indexOf('*/', at) + 2;
  const quote = source[at];
  if (quote === '"' || quote === "'") {
    let end = at + 1;
    while (source[end] !== quote) end += source[end] === '\\' ? 2 : 1;
    return end + 1;
  }
  if (quote === '`') return templateAt(source, at).end;
  if (quote === '/' && /(?:^|[(,=:[!&|?{};]|=>|return)\s*$/.test(source.slice(Math.max(0, at - 12), at))) {
    let [end, isInClass] = [at + 1, false];
    while (source[end] !== '/' || isInClass) {
      if (source[end] === '[') isInClass = true;
      if (source[end] === ']') isInClass = false;
      end += source[end] === '\\' ? 2 : 1;
    }
    return end + 1;
  }
  return at;
}

/** A template: its fixed pieces, the expressions between them, and its end. */
function templateAt(source, at) {
  const [pieces, expressions] = [[''], []];
  let end = at + 1;
  while (source[end] !== '`') {
    if (source.startsWith('${', end)) {
      const close = closing(source, end + 1);
      expressions.push(source.slice(end + 2, close));
      pieces.push('');
      end = close + 1;
    } else {
      const length = source[end] === '\\' ? 2 : 1;
      pieces[pieces.length - 1] += source.slice(end, end + length);
      end += length;
    }
  }
  return { pieces, expressions, end: end + 1 };
}

/** The place of the bracket that closes the one at `at`. */
function closing(source, at) {
  let depth = 0;
  for (let here = at; here < source.length; here++) {
    const after = passed(source, here);
    if (after !== here) {
      here = after - 1;
      continue;
    }
    if ('([{'.includes(source[here])) depth += 1;
    if (')]}'.includes(source[here])) depth -= 1;
    if (!depth) return here;
  }
  throw new Error(`a bracket stays open: ${source.slice(at, at + 80)}`);
}

/** The parts of a list between its commas. */
function split(list) {
  const parts = [];
  let from = 0;
  for (let here = 0; here < list.length; here++) {
    const after = passed(list, here);
    if (after !== here) here = after - 1;
    else if ('([{'.includes(list[here])) here = closing(list, here);
    else if (list[here] === ',') {
      parts.push(list.slice(from, here));
      from = here + 1;
    }
  }
  return [...parts, list.slice(from)].map((part) => part.trim()).filter(Boolean);
}

/** The strings of a source, and the fixed pieces of each of its templates. Those within templates are left out unless they are wanted. */
export function literalsOf(source, isDeep = true) {
  const [strings, templates] = [new Set(), []];
  const look = (text) => {
    for (let here = 0; here < text.length; here++) {
      const after = passed(text, here);
      if (after === here) continue;
      if ('"\''.includes(text[here])) strings.add(text.slice(here + 1, after - 1));
      if (text[here] === '`') {
        const { pieces, expressions } = templateAt(text, here);
        if (expressions.length) templates.push(pieces);
        else strings.add(pieces[0]);
        if (isDeep) expressions.forEach(look);
      }
      here = after - 1;
    }
  };
  look(source);
  return { strings, templates };
}

/** The arguments of each call of a function, or of a method with its name. */
export function callsOf(source, name) {
  const calls = [];
  const begin = new RegExp(`(?<![\\w$#])${name}\\(`, 'y');
  for (let here = 0; here < source.length; here++) {
    begin.lastIndex = here;
    if (begin.test(source) && !/function\s*$/.test(source.slice(0, here))) {
      const open = here + name.length;
      calls.push(split(source.slice(open + 1, closing(source, open))));
    }
    // A template's expressions may have calls, too.
    const after = source[here] === '`' ? here : passed(source, here);
    if (source[here] === '`') {
      const { expressions, end } = templateAt(source, here);
      for (const expression of expressions) calls.push(...callsOf(expression, name));
      here = end - 1;
    } else if (after !== here) here = after - 1;
  }
  return calls;
}

/** What a template can be as a key of a text; null if it cannot be one. */
export function matcher(pieces) {
  if (!pieces.every((piece) => /^[\w.-]*$/.test(piece)) || !pieces.some((piece) => /[a-z]\.|\.[a-z]/.test(piece))) return null;
  return new RegExp(`^${pieces.map((piece) => piece.replaceAll('.', '\\.')).join('[\\w./-]*')}$`);
}

/** The keys that an expression may be: strings, and patterns of templates. */
export function keysIn(expression = '') {
  const { strings, templates } = literalsOf(expression, false);
  const isKey = (text) => /^[a-z]+([.-][\w.-]*)*$/.test(text);
  // Values that an expression compares are not keys.
  const compared = new Set([...expression.matchAll(/[=!]==?\s*'([^']*)'/g)].map(([, text]) => text));
  return [...[...strings].filter((text) => isKey(text) && !compared.has(text)), ...templates.map(matcher).filter(Boolean)];
}

/** The names of an object literal's properties; null if not all of them are known. */
export function propertiesOf(expression) {
  if (expression === undefined) return [];
  if (!expression.startsWith('{')) return null;
  const names = split(expression.slice(1, -1)).map((part) => /^(?:'([^']+)'|(\w+))\s*(?=:|$)/.exec(part));
  return names.every(Boolean) ? names.map(([, quoted, plain]) => quoted ?? plain) : null;
}
