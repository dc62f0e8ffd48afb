/**
 * `npm run chart`: packs the Helm charts in `deploy`. `helm package` writes the time of each file
 * into its archive; here the same files give the same bytes on each machine.
 * @module
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzip } from './image/oci.ts'
import { entriesOf, tarOf } from './image/tar.ts'

const ROOT = join(import.meta.dirname, '..')
/** Folders of the charts in `deploy`. */
export const CHARTS: readonly string[] = ['chart', 'crds']

/** A packed chart. */
export type PackedChart = {
  /** `NAME-VERSION.tgz`, as Helm's repositories name it. */
  readonly file: string
  readonly content: Uint8Array
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly digest: string
}

/** Returns the address of the repository in package.json, for people, if it has one. */
function repositoryOf(): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const url: unknown = repository?.url
  return typeof url === 'string' ? url.replace(/^git\+|\.git$/g, '') : undefined
}

/**
 * Packs the chart in a folder.
 * @param repository `home` and `sources` of Chart.yaml; default: that of package.json, if any
 * @throws {Error} when Chart.yaml has no name or version
 */
export function packChart(
  folder: string,
  repository: string | undefined = repositoryOf(),
): PackedChart {
  const text = readFileSync(join(folder, 'Chart.yaml'), 'utf8')
  const field = (name: string): string => {
    const value = new RegExp(`^${name}: (\\S+)$`, 'm').exec(text)?.[1]
    if (value === undefined) throw new Error(`${folder}/Chart.yaml has no ${name}`)
    return value
  }
  // Helm needs no folders, and permissions of a checkout depend on its umask.
  const files = entriesOf(folder, field('name')).filter(({ content }) => content !== undefined)
  const home = repository === undefined ? '' : `home: ${repository}\nsources: [${repository}]\n`
  const packed = files.map((file) => ({
    ...file,
    mode: 0o644,
    ...(file.path.endsWith('/Chart.yaml') && { content: Buffer.from(text + home) }),
  }))
  const content = gzip(tarOf(packed))
  const digest = createHash('sha256').update(content).digest('hex')
  return { file: `${field('name')}-${field('version')}.tgz`, content, digest }
}

if (import.meta.main) {
  const out = { type: 'string', default: join(ROOT, '.cache/chart') } as const
  const { values } = parseArgs({ options: { out } })
  mkdirSync(values.out, { recursive: true })
  for (const chart of CHARTS) {
    const { file, content, digest } = packChart(join(ROOT, 'deploy', chart))
    writeFileSync(join(values.out, file), content)
    process.stdout.write(`${join(values.out, file)}\nsha256:${digest}\n`)
  }
}
