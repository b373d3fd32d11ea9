import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import test from 'node:test';

const folder = new URL('../../Sources/Library/Console/Pages/', import.meta.url);

// The kit sends scripts and style sheets without comments, and without spaces and line ends outside of strings (LeanText.swift).
test('no string spans lines, and no code follows a block comment on its line', async () => {
  const wrong = [];
  for (const file of (await readdir(folder)).filter((name) => /\.(js|css)$/.test(name))) {
    const lines = (await readFile(new URL(file, folder), 'utf8')).split('\n');
    let isComment = false;
    lines.forEach((line, index) => {
      const code = line.trimStart();
      const isBlock = isComment || code.startsWith('/*');
      const ends = code.includes('*/');
      if (isBlock && ends && !line.endsWith('*/')) wrong.push(`${file}:${index + 1}: code after a comment`);
      if (!isBlock && !code.startsWith('//') && (code.split('`').length % 2 === 0 || line.endsWith('\\'))) wrong.push(`${file}:${index + 1}: a string that goes on`);
      // From a slash or a backquote on, a line is sent as it is.
      if (!isBlock && /^[^/`]*['"]/.test(code.replace(/'(\\.|[^'\\])*'|"(\\.|[^"\\])*"/g, ''))) wrong.push(`${file}:${index + 1}: a string that stays open`);
      isComment = isBlock && !ends;
    });
    assert.ok(!isComment, file);
  }
  assert.deepEqual(wrong, []);
});

test('each name that a module imports is exported by its module, and each import is used', async () => {
  const wrong = [];
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const sources = new Map(await Promise.all(files.map(async (file) => [file, await readFile(new URL(file, folder), 'utf8')])));
  for (const [file, source] of sources) {
    for (const [whole, names, other] of source.matchAll(/^(?:import|export) \{([^}]*)\} from '\.\/([\w-]+\.js)';/gm)) {
      for (const name of names.split(',').map((one) => one.trim()).filter(Boolean)) {
        const isThere = new RegExp(`^export (?:async )?(?:function\\*?|class|const|let) ${name}\\b`, 'm').test(sources.get(other) ?? '');
        if (!isThere) wrong.push(`${file}: ${other} has no ${name}`);
        if (whole.startsWith('import') && source.match(new RegExp(`\\b${name}\\b`, 'g')).length < 2) wrong.push(`${file}: ${name} is in no use`);
      }
    }
    for (const [, other] of source.matchAll(/(?:file: |Part\(|later\(\[|Worker\('\/|addModule\('\/)'?([\w-]+\.js)'/g)) if (!sources.has(other)) wrong.push(`${file}: no ${other}`);
  }
  const page = await readFile(new URL('index.html', folder), 'utf8');
  for (const [, other] of page.matchAll(/(?:src|href)="\/([\w-]+\.js)"/g)) if (!sources.has(other)) wrong.push(`index.html: no ${other}`);
  assert.deepEqual(wrong, []);
});
