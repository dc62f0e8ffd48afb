/**
 * The layout rules of ARCHITECTURE.md, checked: who may import whom, what pure code may not touch, how
 * long files and functions may be, that exports are documented and files have their tests. Run by
 * `tidy.test.ts`; there is no list of exceptions.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const LINES_MAX = 400
const COLUMNS_MAX = 100

/** Data flows down this table: a folder imports only the folders named in its own row. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/bytes': [],
  'src/dns': ['src/bytes'],
  'src/telemetry': [],
  'src/pattern': [],
  'src/expression': ['src/pattern'],
  'src/records': ['src/bytes', 'src/dns'],
  'src/kubernetes/objects': ['src/bytes', 'src/dns', 'src/records'],
  'src/kubernetes/rules': ['src/bytes', 'src/dns', 'src/records', 'src/kubernetes/objects'],
  'src/kubernetes/trees': [
    'src/bytes',
    'src/dns',
    'src/records',
    'src/kubernetes/objects',
    'src/kubernetes/rules',
  ],
  'src/snapshot/format': ['src/bytes', 'src/dns'],
  'src/snapshot/read': ['src/bytes', 'src/dns', 'src/records', 'src/snapshot/format'],
  'src/snapshot/write': [
    'src/bytes',
    'src/dns',
    'src/records',
    'src/snapshot/format',
    'src/snapshot/read',
  ],
  'src/corefile': ['src/bytes', 'src/dns'],
  'src/convert': ['src/bytes', 'src/dns', 'src/records', 'src/kubernetes/objects'],
  'src/chain': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/records',
    'src/snapshot/format',
    'src/snapshot/read',
    'src/corefile',
  ],
  'src/plugin-kit': [
    'src/bytes',
    'src/dns',
    'src/expression',
    'src/snapshot/format',
    'src/corefile',
    'src/chain',
  ],
  'src/plugins': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/pattern',
    'src/expression',
    'src/records',
    'src/snapshot/format',
    'src/snapshot/read',
    'src/corefile',
    'src/chain',
    'src/plugin-kit',
  ],
  'src/onboarding': ['src/telemetry', 'src/snapshot/format'],
  'src/doh': ['src/bytes', 'src/dns', 'src/chain', 'hono'],
  'src/gateway': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/records',
    'src/snapshot/format',
    'src/snapshot/read',
    'src/corefile',
    'src/chain',
    'src/plugins',
    'src/onboarding',
    'src/doh',
    'hono',
  ],
  'src/exporter': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/records',
    'src/kubernetes',
    'src/snapshot',
    'src/corefile',
    'node:',
    'pbf',
    'yaml',
    '@kubernetes/client-node',
  ],
  'src/openshift': [
    'src/bytes',
    'src/telemetry',
    'src/corefile',
    'src/convert',
    'src/exporter',
    'node:',
  ],
  'src/router': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/kubernetes',
    'src/exporter',
    'node:',
  ],
  'src/node': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/corefile',
    'src/chain',
    'src/plugins/dnssec',
    'src/plugins/dnstap',
    'src/plugins/tsig',
    'node:',
  ],
  'src/upstream': ['src/bytes', 'src/dns', 'src/chain', 'src/doh', 'src/node', 'node:'],
  'src/etcd': [
    'src/bytes',
    'src/telemetry',
    'src/records',
    'src/corefile',
    'src/chain',
    'src/plugins/etcd',
    'src/exporter',
    'src/node',
    'node:',
  ],
  'src/server': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/kubernetes/objects',
    'src/snapshot/read',
    'src/corefile',
    'src/chain',
    'src/plugins',
    'src/doh',
    'src/exporter',
    'src/node',
    'src/upstream',
    'src/etcd',
    'node:',
    'hono',
    '@hono/node-server',
  ],
  'src/node-gateway': [
    'src/bytes',
    'src/telemetry',
    'src/chain',
    'src/gateway',
    'src/node',
    'src/server',
    'node:',
    'hono',
  ],
  'src/node-local': [
    'src/bytes',
    'src/dns',
    'src/telemetry',
    'src/corefile',
    'src/convert',
    'src/node',
    'node:',
  ],
  'src/library': [
    'src/dns',
    'src/records',
    'src/corefile',
    'src/snapshot/format',
    'src/snapshot/read',
    'src/gateway',
    'src/telemetry',
    'src/node-gateway',
  ],
  'src/cli': ['src', 'node:', 'commander', 'hono'],
  page: ['src/bytes', 'src/dns', 'hono'],
  worker: [
    'src/bytes',
    'src/telemetry',
    'src/snapshot/format',
    'src/chain',
    'src/plugins',
    'src/doh',
    'src/gateway',
    'cloudflare:',
    'hono',
  ],
}

/** Packages that live behind exactly one file, so that replacing one is a change of one file. */
const DOORS: Readonly<Record<string, string>> = {
  '@hono/node-server': 'src/server/http-server.ts',
  '@kubernetes/client-node': 'src/exporter/watch.ts',
  commander: 'src/cli/main.ts',
  jose: 'src/gateway/access-assertions.ts',
  'mmdb-lib': 'src/plugins/geoip/mmdb.ts',
  pbf: 'src/exporter/protobuf-reader.ts',
  re2js: 'src/pattern/pattern.ts',
  yaml: 'src/exporter/object-files.ts',
}

/** Folders that run anywhere and are functions of their arguments: no clock, chance, I/O, log. */
const PURE: ReadonlySet<string> = new Set(
  Object.keys(MAY_IMPORT).filter((room) => {
    const runtimes = [
      'exporter',
      'openshift',
      'router',
      'node',
      'upstream',
      'etcd',
      'server',
      'node-gateway',
      'node-local',
      'library',
      'cli',
    ]
    return room !== 'worker' && room !== 'page' && !runtimes.some((name) => room === `src/${name}`)
  }),
)
const IMPURE =
  /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|console\.|process\.|getRandomValues|randomUUID)|(?<![.\w])fetch\(/
/** Static imports, re-exports, bare imports and `import('…')`. */
const IMPORT =
  /^(?:import|export)\s(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/gm
/** A template literal of several lines: text for another program, and no code of this one. */
const LONG_TEXT = /(?<=(?:return|=) )`(?:\\.|[^`\\])*\n(?:\\.|[^`\\])*`/g
const EXPORT =
  /^export (?:default )?(?:abstract |async )?(?:function|const|type(?! \{)|class|interface)\b/
/** What makes a file more than types: such a file needs a test. */
const RUNS = /^(?:export )?(?:default |abstract |async )*(?:function|const|let|class)\b/m
const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b/
/** Casts are for the border, right after a check: bytes, JSON, what a platform's types leave open. */
const CASTS = 'src/bytes/bytes.ts'
const CAST = /\bas (?!const\b)[A-Za-z{([]/

/** Returns one line per broken rule, `file:line: what`, in file order. */
export function violations(root: string): string[] {
  const found = tooLong(root)
  const tops = ['src', 'worker', 'page'].map((top) => join(root, top))
  for (const path of tops.flatMap((top) => (existsSync(top) ? walk(top) : []))) {
    const file = posix(relative(root, path))
    const folder = Object.keys(MAY_IMPORT).find((name) => within(file, name))
    if (folder === undefined) {
      found.push(`${file}: not in any folder of MAY_IMPORT`)
      continue
    }
    const text = readFileSync(path, 'utf8')
    found.push(...fileViolations(root, file, text))
    const code = text.replace(LONG_TEXT, (literal) => literal.replace(/[^\n]+/g, '``'))
    found.push(...lineViolations(file, folder, code.split('\n')))
    for (const match of code.matchAll(IMPORT)) {
      const spec = match[1] ?? match[2] ?? ''
      const isLocal = spec.startsWith('.')
      const target = isLocal ? posix(relative(root, resolve(dirname(path), spec))) : spec
      if (!mayImport(file, folder, target)) found.push(`${file}: may not import ${target}`)
    }
  }
  return found
}

/** The build, the tests and the demo are held to the same length. */
function tooLong(root: string): string[] {
  return ['build', 'demo', 'test'].flatMap((top) => {
    const folder = join(root, top)
    return (existsSync(folder) ? walk(folder) : []).flatMap((path) => {
      const { length } = readFileSync(path, 'utf8').split('\n')
      return length > LINES_MAX + 1 ? [`${posix(relative(root, path))}: ${length - 1} lines`] : []
    })
  })
}

function fileViolations(root: string, file: string, text: string): string[] {
  const found: string[] = []
  const twin = `test/${file.replace(/^src\//, '').replace(/\.ts$/, '.test.ts')}`
  // Components run in browsers only: test/clients/page.suite.ts has them in two.
  if (!file.endsWith('.tsx') && RUNS.test(text) && !existsSync(join(root, twin)))
    found.push(`${file}: has no ${twin}`)
  if (!/^\/\*\*[\s\S]*?@module\n \*\//.test(text))
    found.push(`${file}: does not begin with @module`)
  return found
}

function lineViolations(file: string, folder: string, lines: readonly string[]): string[] {
  const found = lines.length > LINES_MAX ? [`${file}: ${lines.length} lines`] : []
  lines.forEach((line, i) => {
    const at = `${file}:${i + 1}`
    const code = line
      .replace(/^\s*\/?\*.*$/, '')
      .replace(/'[^']*'|`[^`]*`/g, "''")
      .replace(/\/\/.*$/, '')
    const isWide = line.length > COLUMNS_MAX && !line.includes('http')
    const isImpure = PURE.has(folder) && IMPURE.test(code)
    const isUndocumented = EXPORT.test(line) && !(lines[i - 1] ?? '').trim().endsWith('*/')
    const isImport = /^(import|export) .* from /.test(line) || /^\s+\w+ as \w+,$/.test(line)
    if (isWide) found.push(`${at}: over ${COLUMNS_MAX} columns`)
    if (isImpure) found.push(`${at}: impure: ${code.trim()}`)
    if (isUndocumented) found.push(`${at}: export without a docstring`)
    if (UNFINISHED.test(line)) found.push(`${at}: unfinished: ${line.trim()}`)
    if (CAST.test(code) && !isImport && file !== CASTS) {
      found.push(`${at}: cast: ${code.trim()}`)
    }
  })
  return found
}

function mayImport(file: string, folder: string, target: string): boolean {
  const door = Object.keys(DOORS).find((name) => within(target, name))
  if (door !== undefined) return DOORS[door] === file
  const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])]
  return allowed.some((name) =>
    name.endsWith(':') ? target.startsWith(name) : within(target, name),
  )
}

const within = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`)
const posix = (path: string): string => path.split(sep).join('/')
const walk = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    return entry.isDirectory() ? walk(path) : /\.tsx?$/.test(path) ? [path] : []
  })
