/**
 * The files beside the `wrangler.toml` of a new Worker: `package.json`, a workflow, a README.
 * @module
 */
import { dirname } from 'node:path'
import type { NewWorker } from './worker-config.ts'

/** The version of wrangler that the Worker is tested with. */
const WRANGLER = '4.155.0'

/** Writes `package.json`. @param kubedoh the version, or the file of a checkout's package */
export function writePackage(name: string, kubedoh: string): string {
  const manifest = {
    name,
    private: true,
    scripts: {
      dev: 'wrangler dev',
      types: 'wrangler types',
      tail: 'wrangler tail',
      check: 'kubedoh deploy -- --dry-run',
      deploy: 'kubedoh deploy --',
    },
    dependencies: { kubedoh },
    devDependencies: { wrangler: WRANGLER },
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** The workflow: production follows `main`, staging a request by hand. */
export const WORKFLOW = `# Checks pull requests and deploys main. "Run workflow" deploys a branch to staging.
# Needs two secrets of the repository (Settings, Secrets and variables, Actions):
#   CLOUDFLARE_API_TOKEN   a token by the template "Edit Cloudflare Workers", for this account,
#                          and for the zone of a custom domain
#   CLOUDFLARE_ACCOUNT_ID  the account's identifier, which "npx wrangler whoami" prints
name: deploy
on:
  push:
    branches: [main]
  pull_request:
  workflow_dispatch:
permissions:
  contents: read
concurrency: deploy-\${{ github.ref }}
jobs:
  deploy:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm ci
      - run: npm run check
      - run: npm run check -- --env staging
      - uses: cloudflare/wrangler-action@v3
        if: github.event_name != 'pull_request'
        with:
          apiToken: \${{ secrets.CLOUDFLARE_API_TOKEN }}
          accountId: \${{ secrets.CLOUDFLARE_ACCOUNT_ID }}
          command: deploy --env=\${{ github.event_name == 'workflow_dispatch' && 'staging' || '' }}
`

/**
 * Writes the README.
 * @param tarball of the checkout, which may differ from what npm's registry has
 */
export function writeReadme(worker: NewWorker, tarball: string | undefined): string {
  const { name, cluster, domain, hostname } = worker
  const url = `https://${hostname ?? 'YOUR-WORKER'}`
  const place = hostname === undefined ? 'the URL that `deploy` printed' : url
  return `# Names of the cluster ${cluster}, below ${domain}

1. Install and deploy. \`deploy\` checks \`wrangler.toml\` first; \`npm run check\` only checks.

   \`\`\`sh
   ${installLines(tarball)}
   npm run deploy
   \`\`\`

2. Publish the cluster's names to ${place}, from where \`kubectl\` works or in a Pod.

   \`\`\`sh
   set -a; . ./exporter.env; set +a
   npx kubedoh export --gateway ${url} --cluster ${cluster}
   \`\`\`

3. Create a token for each client, with files that set its device up.

   \`\`\`sh
   set -a; . ./operator.env; set +a
   npx kubedoh token create laptop --gateway ${url} --kit ../laptop
   npx kubedoh query kubernetes.default.svc.${domain} --server ${url} --token TOKEN
   \`\`\`

Keep all files \`*.env\` secret; git ignores them. The Worker is \`${name}\`: a deployment
replaces the Worker of the account with this name.

## Where names are kept

Durable Objects keep the names and tokens, and never move. Before the first deployment, set in
\`wrangler.toml\` \`CLUSTER_LOCATION\` to the region of the cluster and, if names must stay in the
EU or the US, \`JURISDICTION\`.

## Custom domain

${domainText(hostname)}

## Staging

\`npm run deploy -- --env staging\` deploys \`${name}-staging\`, with the variables and bindings
of \`[env.staging]\` and keys of its own: \`exporter.staging.env\`, \`operator.staging.env\`.
\`deploy\` refuses an environment that lacks one that the Worker needs.

## By GitHub

\`.github/workflows/deploy.yml\` checks pull requests, deploys \`main\`, and deploys to staging by
hand. Its first lines name the two secrets that it needs. Commit \`package-lock.json\`.
${registryText(tarball)}

## Afterwards

\`npm run dev\` runs the Worker on this machine, \`npm run tail\` shows its log lines,
\`npm run types\` writes the types of its bindings. ${upgradeText(tarball)}
\`npx wrangler rollback\` returns to the deployment before, unless \`[[migrations]]\` in
\`wrangler.toml\` has got a new tag since: Cloudflare then refuses.

The Free plan of Cloudflare is enough for some 94,000 queries a day; on the paid plan, a million
queries cost 0.30 to 0.60 $. \`node_modules/kubedoh/docs/worker.md\` says how these follow.
`
}

function installLines(tarball: string | undefined): string {
  if (tarball === undefined) return 'npm install'
  return `(cd '${dirname(tarball)}' && npm pack)   # the package of this checkout
   npm install '${tarball}'`
}

function upgradeText(tarball: string | undefined): string {
  if (tarball !== undefined) return 'To upgrade, update the checkout and repeat step 1.'
  return 'After `npm install kubedoh@latest`, deploy again to upgrade.'
}

function registryText(tarball: string | undefined): string {
  if (tarball === undefined) return 'It installs kubedoh from npm.'
  return 'It installs kubedoh from npm: first replace the file in `package.json` by a version.'
}

function domainText(hostname: string | undefined): string {
  if (hostname !== undefined) {
    return `\`deploy\` creates ${hostname}, its DNS record and its certificate, in a zone of the
account, and closes the host below \`workers.dev\`. Staging stays there.`
  }
  return `The Worker has a host below \`workers.dev\`. Client certificates, Cloudflare Access and the
WAF need a domain in a zone of the account: in \`wrangler.toml\`, remove the \`#\` before
\`routes\`, write the domain there, and set \`workers_dev = false\`. \`deploy\` then creates its
DNS record and its certificate.`
}
