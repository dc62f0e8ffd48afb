/**
 * The layout rules of ARCHITECTURE.md, checked: who may import whom, what pure code may not touch,
 * how long files may be, that exports are documented and their names unique. Run by
 * `tidy.test.ts`; there is no list of exceptions. Biome has the rules of circles and of functions,
 * `npm run coverage` that of tests.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const LINES_MAX = 400
const COLUMNS_MAX = 100
/**
 * Files in a folder of the code; folders do not count, of which `plugins` has one for each
 * plugin.
 */
const FILES_MAX = 25

/** The wings: a wing imports only the wings, packages and modules named in its own row. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/dns': [],
  'src/go': ['src/dns'],
  'src/snapshot': ['src/dns'],
  'src/corefile': ['src/dns'],
  'src/resolver': ['src/dns', 'src/go', 'src/snapshot', 'src/corefile'],
  'src/cluster': ['src/dns', 'src/snapshot', 'src/corefile', 'node:'],
  'src/gateway': ['src/dns', 'src/snapshot', 'src/corefile', 'src/resolver', 'hono'],
  'src/exporter': ['src/dns', 'src/snapshot', 'src/cluster', 'node:'],
  'src/server': [
    'src/dns',
    'src/snapshot',
    'src/corefile',
    'src/resolver',
    'src/cluster',
    'src/gateway',
    'node:',
    'hono',
  ],
  'src/operators': [
    'src/dns',
    'src/snapshot',
    'src/corefile',
    'src/cluster',
    'src/server',
    'node:',
  ],
  'src/cli': ['src', 'node:', 'hono'],
  'src/library': [
    'src/dns',
    'src/snapshot',
    'src/corefile',
    'src/resolver',
    'src/gateway',
    'src/server',
  ],
  page: ['src/dns', 'hono'],
  worker: [
    'src/dns',
    'src/snapshot',
    'src/resolver',
    'src/gateway',
    'src/library',
    'cloudflare:',
    'hono',
  ],
}

/** The rooms of a wing, the lowest first: a room imports only rooms below it. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/dns': ['bytes', 'telemetry', 'names', 'rdata', 'wire'],
  'src/go': ['pattern', 'expression', 'template'],
  'src/snapshot': ['format', 'records', 'read', 'write'],
  'src/resolver': ['contract', 'chain', 'plugin-kit', 'plugins'],
  'src/cluster': ['objects', 'rules', 'trees', 'api', 'follow'],
  'src/gateway': [
    'built',
    'timing',
    'doh',
    'onboarding',
    'config',
    'jwt',
    'access',
    'snapshots',
    'routes',
  ],
  'src/server': ['node', 'keys', 'upstream', 'etcd', 'sockets', 'http', 'serve', 'gateway'],
  'src/operators': ['convert', 'node-local', 'openshift', 'router'],
  'src/cli': [
    'credentials',
    'flags',
    'export',
    'login',
    'clients',
    'gateway',
    'serve',
    'deploy',
    'doctor',
    'explain',
    'operators',
    '.',
  ],
}

/** Packages that live behind exactly one file, so that replacing one is a change of one file. */
const DOORS: Readonly<Record<string, string>> = {
  '@hono/node-server': 'src/server/http/app-listener.ts',
  '@kubernetes/client-node': 'src/cluster/follow/watch.ts',
  aws4fetch: 'src/server/gateway/s3-client.ts',
  commander: 'src/cli/main.ts',
  jose: 'src/gateway/jwt/jwt.ts',
  'mmdb-lib': 'src/resolver/plugins/geoip/mmdb.ts',
  'openid-client': 'src/cli/credentials/identity-provider.ts',
  pbf: 'src/cluster/api/protobuf-reader.ts',
  re2js: 'src/go/pattern/pattern.ts',
  yaml: 'src/cluster/api/object-files.ts',
}

/** Rooms that have a clock, chance, I/O or a log; all others are functions of their arguments. */
const IMPURE_ROOMS: readonly string[] = [
  'src/cluster/api',
  'src/cluster/follow',
  'src/exporter',
  'src/server',
  'src/operators/node-local',
  'src/operators/openshift',
  'src/operators/router',
  'src/cli',
  'src/library',
  'page',
  'worker',
]
const IMPURE =
  /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|console\.|process\.|getRandomValues|randomUUID)|(?<![.\w])fetch\(/
/** Static imports, re-exports, bare imports and `import('…')`. */
const IMPORT =
  /^(?:import|export)\s(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/gm
/** A template literal of several lines: text for another program, and no code of this one. */
const LONG_TEXT = /(?<=(?:return|=) )`(?:\\.|[^`\\])*\n(?:\\.|[^`\\])*`/g
const EXPORT =
  /^export (?:default )?(?:abstract |async )?(?:function|const|type(?! \{)|class|interface)\b/
const EXPORTED_NAME =
  /^export (?:abstract |async )*(?:function\*?|const|type|class|interface) (\w+)/gm
const IMPORTED_NAMES = /^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/gm
const UNFINISHED = /\b(TODO|FIXME|XXX|HACK)\b/
/**
 * Casts are for the border, right after a check: bytes, JSON, what a platform's types leave
 * open.
 */
const CASTS = 'src/dns/bytes/bytes.ts'
const CAST = /\bas (?!const\b)[A-Za-z{([]/

/** Returns one line per broken rule, `file:line: what`, in file order. */
export function violations(root: string): string[] {
  const found = [...tooLong(root), ...tooFull(root)]
  const texts = new Map<string, string>()
  const tops = ['src', 'worker', 'page'].map((top) => join(root, top))
  for (const path of tops.flatMap((top) => (existsSync(top) ? walk(top) : []))) {
    const file = posix(relative(root, path))
    const folder = Object.keys(MAY_IMPORT).find((name) => within(file, name))
    if (folder === undefined) {
      found.push(`${file}: not in any wing of MAY_IMPORT`)
      continue
    }
    const text = readFileSync(path, 'utf8')
    found.push(...fileViolations(file, text))
    const code = text.replace(LONG_TEXT, (literal) => literal.replace(/[^\n]+/g, '``'))
    found.push(...lineViolations(file, code.split('\n')))
    for (const match of code.matchAll(IMPORT)) {
      const spec = match[1] ?? match[2] ?? ''
      const isLocal = spec.startsWith('.')
      const target = isLocal ? posix(relative(root, resolve(dirname(path), spec))) : spec
      if (!mayImport(file, folder, target)) found.push(`${file}: may not import ${target}`)
    }
    texts.set(file, text)
  }
  return [...found, ...sharedNames(texts)]
}

/** A name that two files export, if files of other folders import both: it means two things. */
function sharedNames(texts: ReadonlyMap<string, string>): string[] {
  const exporters = new Map<string, string[]>()
  const used = new Set<string>()
  for (const [file, text] of texts) {
    for (const [, name = ''] of text.matchAll(EXPORTED_NAME)) {
      exporters.set(name, [...(exporters.get(name) ?? []), file])
    }
    for (const [, names = '', spec = ''] of text.matchAll(IMPORTED_NAMES)) {
      const from = posix(join(dirname(file), spec))
      if (within(dirname(file), dirname(from))) continue
      for (const name of names.split(',')) {
        used.add(`${from} ${name.replace(/^\s*(?:type )?| as .*|\s+$/gs, '')}`)
      }
    }
  }
  return [...exporters].flatMap(([name, files]) => {
    const shared = files.filter((file) => used.has(`${file} ${name}`))
    return shared.length > 1 ? [`${shared.join(', ')}: export ${name}, so it has two meanings`] : []
  })
}

/** The benchmarks, the build, the demo and the tests are held to the same length. */
function tooLong(root: string): string[] {
  return ['bench', 'build', 'demo', 'examples', 'test'].flatMap((top) => {
    const folder = join(root, top)
    return (existsSync(folder) ? walk(folder) : []).flatMap((path) => {
      const { length } = readFileSync(path, 'utf8').split('\n')
      return length > LINES_MAX + 1 ? [`${posix(relative(root, path))}: ${length - 1} lines`] : []
    })
  })
}

function tooFull(root: string): string[] {
  const count = new Map<string, number>()
  for (const path of existsSync(join(root, 'src')) ? walk(join(root, 'src')) : []) {
    const folder = posix(relative(root, dirname(path)))
    count.set(folder, (count.get(folder) ?? 0) + 1)
  }
  return [...count].flatMap(([folder, files]) =>
    files > FILES_MAX ? [`${folder}: ${files} files, at most ${FILES_MAX} are allowed`] : [],
  )
}

function fileViolations(file: string, text: string): string[] {
  const found: string[] = []
  if (!/^\/\*\*[\s\S]*?@module\n \*\//.test(text))
    found.push(`${file}: does not begin with @module`)
  return found
}

function lineViolations(file: string, lines: readonly string[]): string[] {
  const isOfPure = isPure(file)
  const found = lines.length > LINES_MAX ? [`${file}: ${lines.length} lines`] : []
  lines.forEach((line, i) => {
    const at = `${file}:${i + 1}`
    const code = line
      .replace(/^\s*\/?\*.*$/, '')
      .replace(/'[^']*'|`[^`]*`/g, "''")
      .replace(/\/\/.*$/, '')
    const isWide = line.length > COLUMNS_MAX && !line.includes('http')
    const isImpure = isOfPure && IMPURE.test(code)
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
  if (target.startsWith('node:') && isPure(file)) return false
  if (within(target, folder)) return isBelow(file, folder, target)
  return (MAY_IMPORT[folder] ?? []).some((name) =>
    name.endsWith(':') ? target.startsWith(name) : within(target, name),
  )
}

/** Whether a file of a wing is in the room of another one, or above it. */
function isBelow(file: string, wing: string, target: string): boolean {
  const rooms = ROOMS[wing]
  if (rooms === undefined) return true
  const placeOf = (path: string): number => {
    const [room = '', ...rest] = path.slice(wing.length + 1).split('/')
    return rooms.indexOf(rest.length === 0 ? '.' : room)
  }
  return placeOf(target) >= 0 && placeOf(target) <= placeOf(file)
}

function isPure(file: string): boolean {
  return !IMPURE_ROOMS.some((room) => within(file, room))
}

const within = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`)
const posix = (path: string): string => path.split(sep).join('/')
const walk = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    return entry.isDirectory() ? walk(path) : /\.tsx?$/.test(path) ? [path] : []
  })
