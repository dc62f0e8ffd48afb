import assert from 'node:assert/strict'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, type TestContext, test } from 'vitest'
import {
  ObjectFileError,
  type ObjectFiles,
  readObjectFiles,
} from '../../../src/cluster/api/object-files.ts'
import { describeObject } from '../../../src/cluster/objects/objects.ts'
import { temporaryFolder } from '../follow/temporary-folder.ts'

const SHOP = '{ "kind": "Namespace", "metadata": { "name": "shop" } }'
const WEB = '{ "kind": "Service", "metadata": { "namespace": "shop", "name": "web" } }'
const BARE = '{ "metadata": { "namespace": "shop", "name": "web" } }'

/** Reads files that are written for it, by the names that are asked for, or all. */
function read(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  paths: readonly string[] = Object.keys(files),
): ObjectFiles {
  const folder = temporaryFolder(t, files)
  return readObjectFiles(paths.map((path) => join(folder, path)))
}

/** What is refused, without the path of the folder. */
function refusal(step: () => unknown): string {
  try {
    step()
  } catch (error) {
    assert.ok(error instanceof ObjectFileError, String(error))
    return error.message.replace(/^\S*kubedoh-test-\w+\//, '')
  }
  return 'nothing is refused'
}

describe('readObjectFiles', () => {
  const list = (kind: string, items: string): string => `{ "kind": "${kind}", "items": [${items}] }`
  const cases: {
    name: string
    files: Record<string, string>
    paths?: string[]
    objects: string[]
  }[] = [
    { name: 'reads one object as JSON', files: { 'a.json': SHOP }, objects: ['Namespace shop'] },
    {
      name: 'reads one object as YAML',
      files: { 'a.yaml': 'kind: Namespace\nmetadata:\n  name: shop\n' },
      objects: ['Namespace shop'],
    },
    {
      name: 'reads files of any other name as YAML',
      files: { objects: 'kind: Namespace\nmetadata: { name: shop }' },
      objects: ['Namespace shop'],
    },
    {
      name: 'reads several documents, some of them empty',
      files: { 'a.yml': `---\n${SHOP}\n---\n# nothing\n---\n${WEB}\n...\n` },
      objects: ['Namespace shop', 'Service shop/web'],
    },
    { name: 'reads a file of nothing', files: { 'a.yaml': '' }, objects: [] },
    { name: 'reads a file of comments', files: { 'a.yaml': '# nothing\n' }, objects: [] },
    { name: 'reads null as nothing', files: { 'a.json': 'null' }, objects: [] },
    {
      name: 'reads the items of a List',
      files: { 'a.json': list('List', `${SHOP}, ${WEB}`) },
      objects: ['Namespace shop', 'Service shop/web'],
    },
    {
      name: 'knows the kind of a typed list for items that do not say it',
      files: { 'a.json': list('ServiceList', BARE), 'b.json': SHOP },
      objects: ['Namespace shop', 'Service shop/web'],
    },
    {
      name: 'leaves items of a typed list the kind that they say',
      files: { 'a.json': list('ServiceList', SHOP) },
      objects: ['Namespace shop'],
    },
    {
      name: 'knows no kind for items of a List that do not say it',
      files: { 'a.json': list('List', BARE) },
      objects: [],
    },
    {
      name: 'reads no list of another group as one of ours',
      files: {
        'a.json': `{ "apiVersion": "serving.knative.dev/v1", ${list('ServiceList', BARE).slice(1)}`,
      },
      objects: [],
    },
    {
      name: 'passes over objects of other kinds',
      files: { 'a.yaml': `kind: ConfigMap\nmetadata: { name: a }\n---\n${SHOP}` },
      objects: ['Namespace shop'],
    },
    {
      name: 'reads the files of a folder in the order of their names, and no others',
      files: {
        'in/b.yaml': SHOP,
        'in/a.json': WEB,
        'in/c.yml': '{ kind: Namespace, metadata: { name: ops } }',
        'in/c.yaml.bak': '{',
        'in/README.md': '{',
        'in/below/d.yaml': '{',
      },
      paths: ['in'],
      objects: ['Namespace ops', 'Namespace shop', 'Service shop/web'],
    },
    {
      name: 'reads aliases',
      files: {
        'a.yaml': 'kind: Namespace\nmetadata: { name: &name shop, labels: { app: *name } }',
      },
      objects: ['Namespace shop'],
    },
    {
      name: 'supplies the Namespaces of the objects when there are none',
      files: { 'a.json': WEB, 'b.yaml': '{ kind: Pod, metadata: { name: web-0 } }' },
      objects: ['Namespace default', 'Namespace shop', 'Pod default/web-0', 'Service shop/web'],
    },
    {
      name: 'supplies none when there is one, even another one',
      files: { 'a.json': WEB, 'b.yaml': '{ kind: Namespace, metadata: { name: ops } }' },
      objects: ['Namespace ops', 'Service shop/web'],
    },
  ]
  for (const { name, files, paths, objects } of cases) {
    test(name, (t) => {
      const found = read(t, files, paths)
      assert.deepEqual(found.objects.map(describeObject).sort(), objects)
      const others = found.warnings.filter((text) => !text.includes('no object that has names'))
      assert.deepEqual(others, [])
    })
  }

  test('names files without objects that give names, and their contents', (t) => {
    const folder = temporaryFolder(t, {
      'empty.yaml': '# nothing\n',
      'kinds.json': '[]',
      'other.yaml':
        'kind: Job\n---\nkind: Job\n---\napiVersion: serving.knative.dev/v1\nkind: Service',
      'values.yaml': 'image: { tag: v1 }\n',
      'web.yaml': WEB,
    })
    const { warnings } = readObjectFiles([folder])
    assert.deepEqual(
      warnings.map((warning) => warning.replace(`${folder}/`, '')),
      [
        'empty.yaml: no object that has names, found nothing',
        'kinds.json: Object without a name: it is a list, expected an object',
        'other.yaml: no object that has names, found 3 of kind Job, serving.knative.dev/v1 Service',
        'values.yaml: no object that has names, found 1 of kind (none)',
      ],
    )
  })

  test('warns of objects that are not as the API has them, and reads the others', (t) => {
    const bad = '{ kind: Service, metadata: { name: bad }, spec: 1 }'
    const folder = temporaryFolder(t, { 'a.yaml': `${bad}\n---\n${SHOP}\n---\n[7]\n` })
    const path = join(folder, 'a.yaml')
    const { objects, warnings } = readObjectFiles([path])
    assert.deepEqual(objects.map(describeObject), ['Namespace shop'])
    assert.deepEqual(warnings, [
      `${path}: Service bad: spec is 1, expected an object`,
      `${path}: Object without a name: it is a list, expected an object`,
    ])
  })

  const refused: { name: string; files: Record<string, string>; message: string | RegExp }[] = [
    {
      name: 'YAML that is not closed',
      files: { 'a.yaml': 'kind: Service\nmetadata: {\n' },
      message: /^a\.yaml:3: /,
    },
    {
      name: 'YAML that is wrong in its second document',
      files: { 'a.yaml': 'kind: Service\n---\n\na: b: c\n' },
      message: /^a\.yaml:4: Nested mappings are not allowed/,
    },
    {
      name: 'an alias that leads nowhere',
      files: { 'a.yaml': 'kind: *nowhere\n' },
      message: 'a.yaml: Unresolved alias (the anchor must be set before the alias): nowhere',
    },
    {
      name: 'JSON that is cut off',
      files: { 'a.json': '{\n  "kind":\n  "Service"' },
      message: /^a\.json:3: Expected ',' or '}'/,
    },
    {
      name: 'JSON with a comma too many',
      files: { 'a.json': '{\n  "kind": "Service",\n}\n' },
      message: /^a\.json:3: Expected double-quoted property name/,
    },
    {
      name: 'JSON with a word of its own, on one line',
      files: { 'a.json': '{\n  "kind":\n  Service\n}' },
      message: /^a\.json: Unexpected token 'S'.* is not valid JSON$/,
    },
    {
      name: 'JSON that is empty',
      files: { 'a.json': '' },
      message: 'a.json: Unexpected end of JSON input',
    },
  ]
  for (const { name, files, message } of refused) {
    test(`refuses ${name}`, (t) => {
      const reason = refusal(() => read(t, files))
      if (typeof message === 'string') assert.equal(reason, message)
      else assert.match(reason, message)
    })
  }

  test('refuses a missing path among others', (t) => {
    const reason = refusal(() => read(t, { 'a.json': SHOP }, ['a.json', 'b.json']))
    assert.equal(reason, 'b.json: no such file or folder')
  })

  test('refuses a folder that is called like a file', (t) => {
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'a.yaml'))
    const reason = refusal(() => readObjectFiles([folder]))
    assert.equal(reason, 'a.yaml: it is a folder')
  })

  test('refuses a file over 512 MiB without reading it', (t) => {
    const folder = temporaryFolder(t, { 'a.json': SHOP })
    truncateSync(join(folder, 'a.json'), 2 ** 29 + 1)
    const reason = refusal(() => readObjectFiles([folder]))
    assert.equal(reason, 'a.json: 536870913 bytes, at most 536870912')
  })

  test('refuses aliases that expand to far more than the file', (t) => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}]`)
    const reason = refusal(() => read(t, { 'a.yaml': lines.join('\n') }))
    assert.equal(reason, 'a.yaml: Excessive alias count indicates a resource exhaustion attack')
  })

  test('reads any text, or refuses it', (t) => {
    const folder = temporaryFolder(t)
    const part = fc.constantFrom(
      'kind: Service',
      '{',
      '}',
      '[',
      ': ',
      '\n',
      '---\n',
      '&a ',
      '*a',
      '"',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(part).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, fc.constantFrom('a.json', 'a.yaml'), (content, name) => {
        const path = join(folder, name)
        writeFileSync(path, content)
        try {
          assert.ok(readObjectFiles([path]).objects.length >= 0)
        } catch (error) {
          if (!(error instanceof ObjectFileError)) throw error
          assert.ok(error.message.startsWith(path) && !error.message.includes('\n'))
        }
      }),
      { numRuns: 300 },
    )
  })
})
