/**
 * `kubedoh init worker`: writes a folder from which the gateway's Worker is deployed.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { NO_FILES } from '../../corefile/lexeme-stream.ts'
import { readCorefile } from '../../corefile/parse-corefile.ts'
import { causeText } from '../../dns/bytes/unknown.ts'
import { parseName } from '../../dns/names/name.ts'
import { VERSION } from '../../dns/telemetry/version.ts'
import { createClusterKeys, createToken } from '../../exporter/cluster-keys.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import type { Input } from '../flags/flags.ts'
import { checkCorefile, type Findings } from '../serve/check.ts'
import { type KeyVariables, type NewWorker, writeWorkerConfig } from './worker-config.ts'
import { WORKFLOW, writePackage, writeReadme } from './worker-files.ts'
import { deriveWorkerName, isWorkerName, WORKER_NAME_MAX } from './worker-name.ts'

/** Has no character that means something in TOML or in a Corefile. */
const DOMAIN = /^[\w-]+(\.[\w-]+)*\.?$/
/** A host of two labels or more (RFC 1123 §2.1): Cloudflare takes no wildcard. */
const HOSTNAME = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$/
/** Readable by its owner only. */
const SECRET = 0o600

/**
 * Writes the folder, with new keys.
 * @throws {CommandError} for a bad cluster, domain or name, or a folder that is not empty
 */
export async function runInitWorker(input: Input, output: Output): Promise<void> {
  const [folder = ''] = input.args
  const worker = await readWorker(input)
  const files = await filesOf(worker)
  const { cluster, domain, name } = worker
  const { problems, warnings } = await checkVariables(files['wrangler.toml'] ?? '', cluster)
  if (problems[0] !== undefined) throw new CommandError(`"${domain}": ${problems[0].message}`)
  for (const { message } of warnings) output.stderr.write(`kubedoh: warning: ${message}\n`)
  try {
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length > 0) throw new Error('it is not empty; name another folder')
    for (const [path, text] of Object.entries(files)) {
      const mode = path.endsWith('.env') ? { mode: SECRET } : {}
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text, mode)
    }
  } catch (error) {
    throw new CommandError(`Cannot write to ${folder}: ${causeText(error)}`, { cause: error })
  }
  const readme = join(folder, 'README.md')
  output.stdout.write(`${folder}: ready to deploy as ${name}; ${readme} has three steps\n`)
}

/** Reads arguments and flags. */
async function readWorker(input: Input): Promise<NewWorker> {
  const [folder = '', domain = ''] = input.args
  const cluster = input.text('cluster') || 'prod'
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`"${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  if (!DOMAIN.test(domain) || parseName(domain) === undefined) {
    throw new CommandError(`"${domain}" is not a domain such as prod.k8s.example.org`)
  }
  const hostname = input.text('hostname').toLowerCase().replace(/\.$/, '') || undefined
  if (hostname !== undefined && !(HOSTNAME.test(hostname) && parseName(hostname))) {
    throw new CommandError(`--hostname "${hostname}" is not a host such as dns.example.org`)
  }
  const name = input.text('name') || (await deriveWorkerName(basename(resolve(folder))))
  if (name === '') {
    throw new CommandError(`"${folder}" gives the Worker no name; pass --name NAME`)
  }
  if (!isWorkerName(name)) {
    const bound = `at most ${WORKER_NAME_MAX} characters of a-z, 0-9 and "-"`
    throw new CommandError(`--name "${name}": use ${bound}, no "-" at either end`)
  }
  return { name, cluster, domain: domain.replace(/\.$/, ''), hostname }
}

/** Checks the Corefile in the configuration, as `deploy` does. */
function checkVariables(toml: string, cluster: string): Promise<Findings> {
  const [, text = ''] = /^COREFILE = """\n(.*?)^"""$/ms.exec(toml) ?? []
  const corefile = readCorefile(text, 'COREFILE', NO_FILES)
  return checkCorefile(corefile, { folder: '/', isToCopy: false, clusters: [cluster] }, 'worker')
}

/** Returns the files by path. */
async function filesOf(worker: NewWorker): Promise<Record<string, string>> {
  const { template, checkout } = findTemplate()
  const tarball = checkout && join(checkout, `kubedoh-${VERSION}.tgz`)
  const production = await createKeys(worker.cluster)
  const staging = await createKeys(worker.cluster)
  const keys = { production: production.variables, staging: staging.variables }
  return {
    'wrangler.toml': await writeWorkerConfig(worker, keys, template),
    'package.json': writePackage(worker.name, tarball === undefined ? VERSION : `file:${tarball}`),
    'exporter.env': production.exporter,
    'operator.env': production.operator,
    'exporter.staging.env': staging.exporter,
    'operator.staging.env': staging.operator,
    '.gitignore': 'node_modules\n.wrangler\n*.env\n',
    '.github/workflows/deploy.yml': WORKFLOW,
    'README.md': writeReadme(worker, tarball),
  }
}

/** Creates the keys of an environment: the gateway's variables, and the files of both roles. */
async function createKeys(cluster: string): Promise<{
  readonly variables: KeyVariables
  readonly exporter: string
  readonly operator: string
}> {
  const { token, signingKey, tokenSha256, publicKey } = await createClusterKeys()
  const admin = await createToken()
  return {
    variables: {
      CLUSTERS: JSON.stringify({ [cluster]: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: admin.sha256,
    },
    exporter: `KUBEDOH_TOKEN=${token}\nKUBEDOH_SIGNING_KEY=${signingKey}\n`,
    operator: `KUBEDOH_ADMIN_TOKEN=${admin.token}\n`,
  }
}

/** Reads the configuration of the package, or of the checkout, whose folder it then returns. */
function findTemplate(): { readonly template: string; readonly checkout: string | undefined } {
  for (const [up, isCheckout] of [
    ['..', false],
    ['../../..', true],
  ] as const) {
    const folder = resolve(import.meta.dirname, up)
    const path = join(folder, 'wrangler.toml')
    if (!existsSync(path)) continue
    return { template: readFileSync(path, 'utf8'), checkout: isCheckout ? folder : undefined }
  }
  throw new CommandError('wrangler.toml is missing; use the npm package')
}
