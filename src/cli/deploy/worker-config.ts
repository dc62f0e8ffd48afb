/**
 * The `wrangler.toml` of a new Worker: that of the package, with names and keys.
 * @module
 */
import { rateLimitNamespace, STAGING_SUFFIX } from './worker-name.ts'

/** What a new Worker is for. */
export type NewWorker = {
  readonly name: string
  /** ID of the cluster. */
  readonly cluster: string
  /** The zone of the cluster's names. */
  readonly domain: string
  /** Custom domain of the Worker; `undefined` for a host below workers.dev. */
  readonly hostname: string | undefined
}

/** Variables with the halves of keys that a gateway has. */
export type KeyVariables = { readonly CLUSTERS: string; readonly ADMIN_TOKEN_SHA256: string }

/** The Worker in the folder of the package. */
const MAIN = 'node_modules/kubedoh/dist/worker.js'
const EXAMPLE_ROUTE = '# routes = [{ pattern = "dns.example.org", custom_domain = true }]'

/**
 * Writes the configuration: the Worker itself, and `[env.staging]`, whose variables and bindings
 * are its own, as wrangler inherits neither.
 * @param template the package's configuration
 */
export async function writeWorkerConfig(
  worker: NewWorker,
  keys: { readonly production: KeyVariables; readonly staging: KeyVariables },
  template: string,
): Promise<string> {
  const { name, cluster, domain, hostname } = worker
  const main = withKeys(template, keys.production)
    .replace(/^# The gateway (?:.*\n)*?(?=name = )/, head(cluster))
    .replace(/^name = ".*"$/m, `name = "${name}"`)
    .replace('"worker/index.ts"', `"${MAIN}"`)
    .replace(/^\[build\]\n(?:.+\n)+\n/m, '')
    .replace(/kubernetes prod\.k8s\.example\.org \{\n( +)cluster prod\n/, (_, indent) =>
      [`kubernetes ${domain} {`, `${indent}cluster ${cluster}`, ''].join('\n'),
    )
    .replace(/namespace_id = "\d+"/, `namespace_id = "${await rateLimitNamespace(name)}"`)
  const routed =
    hostname === undefined
      ? main
      : main
          .replace('workers_dev = true', 'workers_dev = false')
          .replace(EXAMPLE_ROUTE, `routes = [{ pattern = "${hostname}", custom_domain = true }]`)
  return `${routed}\n${await stagingOf(routed, name, keys.staging)}`
}

function head(cluster: string): string {
  return `# The gateway for cluster ${cluster}. After a change: npm run check, npm run deploy.\n`
}

function withKeys(text: string, { CLUSTERS, ADMIN_TOKEN_SHA256: admin }: KeyVariables): string {
  return text
    .replace(/^CLUSTERS = .*$/m, `CLUSTERS = '${CLUSTERS}'`)
    .replace(/^ADMIN_TOKEN_SHA256 = .*$/m, `ADMIN_TOKEN_SHA256 = "${admin}"`)
}

async function stagingOf(toml: string, name: string, keys: KeyVariables): Promise<string> {
  const own = `${name}${STAGING_SUFFIX}`
  const bindings = toml
    .split(/\n{2,}/)
    .map((section) => section.replace(/^#.*\n/gm, ''))
    .filter((section) => /^\[\[(durable_objects\.bindings|ratelimits)\]\]/.test(section))
    .map((section) => section.replace(/^\[\[/, '[[env.staging.'))
    .join('\n\n')
    .replace(/namespace_id = "\d+"/, `namespace_id = "${await rateLimitNamespace(own)}"`)
  return `# A Worker to try changes with, by npm run deploy -- --env staging, with keys of its own (*.staging.env).
# Wrangler inherits no variable and no binding, so each has to be here as well.
[env.staging]
name = "${own}"
workers_dev = true
routes = []

[env.staging.vars]
${withKeys(variablesOf(toml), keys)}
${bindings}
`
}

/** Returns the variables without comments, but for those in the Corefile. */
function variablesOf(toml: string): string {
  const [, section = ''] = /^\[vars\]\n(.*?)^\[\[/ms.exec(toml) ?? []
  const [, corefile = '', rest = ''] = section.split(/^(COREFILE = """\n.*?^"""\n)/ms)
  return corefile + rest.replace(/^(?:#.*)?\n/gm, '')
}
