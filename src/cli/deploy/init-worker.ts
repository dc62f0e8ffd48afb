/**
 * `kubedoh init worker`: writes a folder from which the gateway's Worker is deployed.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
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

/** The version of wrangler that the Worker is tested with. */
const WRANGLER = '4.155.0'
/** Has no character that means something in TOML or in a Corefile. */
const DOMAIN = /^[\w-]+(\.[\w-]+)*\.?$/
/** Readable by its owner only. */
const SECRET = 0o600

/**
 * Writes the folder, with new keys.
 * @throws {CommandError} for a bad cluster or domain, or a folder that is not empty
 */
export async function runInitWorker(input: Input, output: Output): Promise<void> {
  const [folder = '', domain = ''] = input.args
  const cluster = input.text('cluster') || 'prod'
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`"${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  if (!DOMAIN.test(domain) || parseName(domain) === undefined) {
    throw new CommandError(`"${domain}" is not a domain such as prod.k8s.example.org`)
  }
  const files = await filesOf(cluster, domain.replace(/\.$/, ''))
  const { problems, warnings } = await checkVariables(files['wrangler.toml'] ?? '', cluster)
  if (problems[0] !== undefined) throw new CommandError(`"${domain}": ${problems[0].message}`)
  for (const { message } of warnings) output.stderr.write(`kubedoh: warning: ${message}\n`)
  try {
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length > 0) throw new Error('it is not empty; name another folder')
    for (const [name, text] of Object.entries(files)) {
      const mode = name.endsWith('.env') ? { mode: SECRET } : {}
      writeFileSync(join(folder, name), text, mode)
    }
  } catch (error) {
    throw new CommandError(`Cannot write to ${folder}: ${causeText(error)}`, { cause: error })
  }
  output.stdout.write(`${folder}: ready to deploy; ${join(folder, 'README.md')} has three steps\n`)
}

/** Checks the Corefile in the configuration, as `deploy` does. */
function checkVariables(toml: string, cluster: string): Promise<Findings> {
  const [, text = ''] = /^COREFILE = """\n(.*?)^"""$/ms.exec(toml) ?? []
  const corefile = readCorefile(text, 'COREFILE', NO_FILES)
  return checkCorefile(corefile, { folder: '/', isToCopy: false, clusters: [cluster] }, 'worker')
}

/** Returns the files by name. */
async function filesOf(cluster: string, domain: string): Promise<Record<string, string>> {
  const { token, signingKey, tokenSha256, publicKey } = await createClusterKeys()
  const admin = await createToken()
  const { template, checkout } = findTemplate()
  const tarball = checkout && join(checkout, `kubedoh-${VERSION}.tgz`)
  const clusters = JSON.stringify({ [cluster]: { publicKey, tokenSha256 } })
  const manifest = {
    private: true,
    scripts: { check: 'kubedoh deploy -- --dry-run', deploy: 'kubedoh deploy --' },
    dependencies: { kubedoh: tarball === undefined ? VERSION : `file:${tarball}` },
    devDependencies: { wrangler: WRANGLER },
  }
  return {
    'wrangler.toml': template
      .replace('"worker/index.ts"', '"node_modules/kubedoh/dist/worker.js"')
      .replace(/^\[build\]\n(?:.+\n)+\n/m, '')
      .replace(/kubernetes prod\.k8s\.example\.org \{\n( +)cluster prod\n/, (_, indent) =>
        [`kubernetes ${domain} {`, `${indent}cluster ${cluster}`, ''].join('\n'),
      )
      .replace('CLUSTERS = "{}"', `CLUSTERS = '${clusters}'`)
      .replace('ADMIN_TOKEN_SHA256 = ""', `ADMIN_TOKEN_SHA256 = "${admin.sha256}"`),
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    'exporter.env': `KUBEDOH_TOKEN=${token}\nKUBEDOH_SIGNING_KEY=${signingKey}\n`,
    'operator.env': `KUBEDOH_ADMIN_TOKEN=${admin.token}\n`,
    '.gitignore': 'node_modules\n.wrangler\n*.env\n',
    'README.md': readme(cluster, domain, tarball),
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

/** @param tarball of the checkout, which may differ from what npm's registry has */
function readme(cluster: string, domain: string, tarball: string | undefined): string {
  const isCheckout = tarball !== undefined
  const install = isCheckout
    ? `(cd '${dirname(tarball)}' && npm pack)   # the package of this checkout
   npm install '${tarball}'`
    : 'npm install'
  const upgrade = isCheckout
    ? 'To upgrade, update the checkout and repeat step 1.'
    : 'After `npm install kubedoh@latest`, deploy again to upgrade.'
  return `# Names of the cluster ${cluster}, below ${domain}

1. Install and deploy. \`deploy\` checks the Corefile in \`wrangler.toml\` first; \`npm run check\` only checks.

   \`\`\`sh
   ${install}
   npm run deploy
   \`\`\`

2. Publish the cluster's names to the URL that \`deploy\` printed, from where \`kubectl\` works or in a Pod.

   \`\`\`sh
   set -a; . ./exporter.env; set +a
   npx kubedoh export --gateway https://YOUR-WORKER --cluster ${cluster}
   \`\`\`

3. Create a token for each client, with files that set its device up.

   \`\`\`sh
   set -a; . ./operator.env; set +a
   npx kubedoh token create laptop --gateway https://YOUR-WORKER --kit ../laptop
   npx kubedoh query kubernetes.default.svc.${domain} --server https://YOUR-WORKER --token TOKEN
   \`\`\`

Keep \`exporter.env\` and \`operator.env\` secret; git ignores them. ${upgrade}
`
}
