/**
 * The configuration of nginx for a table of routes.
 * @module
 */
import { createHash } from 'node:crypto'
import type { TableHost, TableRoute } from '../../cluster/rules/route-table.ts'

/** What the configuration needs beside the routes. */
export type NginxOptions = {
  /** Addresses and ports of the requests, as nginx's `listen` takes them. */
  readonly listen: readonly string[]
  /** Folder for the pid file, the socket and bodies of requests: absolute. */
  readonly folder: string
}

/** Texts without quotes, blanks, braces, semicolons, variables and backslashes. */
const SAFE = /^[A-Za-z0-9._~:[\]/*-]+$/
/**
 * The table of names: nginx tries one number of buckets after the other, up to `BUCKETS_MAX`, until
 * each bucket has room for its names. 15 of the longest fit in one, of 248 characters.
 */
const BUCKET_BYTES = 4096
const BUCKETS_MAX = 20_000
const BODY_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Returns the path of the socket at which nginx returns the digest of its configuration. */
export function digestSocket(folder: string): string {
  return `${folder}/nginx.sock`
}

/** Returns the path of nginx's pid file. */
export function pidFile(folder: string): string {
  return `${folder}/nginx.pid`
}

/** A configuration and its digest, which nginx returns while it runs with it. */
export type NginxConfig = { readonly text: string; readonly digest: string }

/**
 * Formats the configuration: the same table gives the same text.
 * @throws {TypeError} for a text that could mean something else to nginx; the parser has refused it
 */
export function formatNginx(hosts: readonly TableHost[], options: NginxOptions): NginxConfig {
  const servers = hosts.map((host) => formatServer(host, options)).join('')
  const digest = createHash('sha256').update(JSON.stringify(options)).update(servers).digest('hex')
  const { listen, folder } = options
  const text = `# Written by kubedoh router nginx, which overwrites changes.
worker_processes auto;
worker_shutdown_timeout 5m;
pid ${safe(pidFile(folder))};
error_log stderr warn;
events {
  worker_connections 4096;
}
http {
  access_log off;
  server_tokens off;
  uninitialized_variable_warn off;
  server_names_hash_bucket_size ${BUCKET_BYTES};
  server_names_hash_max_size ${BUCKETS_MAX};
${temporaryFolders(folder)}  # WebSockets only: requests within an h2c connection would pass without these headers.
  map $http_upgrade $kubedoh_upgrade {
    default "";
    websocket websocket;
  }
  map $http_upgrade $kubedoh_connection {
    default "";
    websocket upgrade;
  }
  # The host of an absolute target counts, not the header Host (RFC 9112 section 3.2.2).
  map $request $kubedoh_authority {
    default $http_host;
    "~*^[A-Z]+ https?://(?<kubedoh_target>[^/? ]+)" $kubedoh_target;
  }
  map $kubedoh_authority $kubedoh_port {
    default "";
    "~(?<kubedoh_digits>:[0-9]+)$" $kubedoh_digits;
  }
  proxy_http_version 1.1;
  proxy_connect_timeout 5s;
  proxy_set_header Host $host$kubedoh_port;
  proxy_set_header Upgrade $kubedoh_upgrade;
  proxy_set_header Connection $kubedoh_connection;
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Host $host$kubedoh_port;
  proxy_set_header X-Forwarded-Prefix $kubedoh_prefix;
  server {
    listen unix:${safe(digestSocket(folder))};
    return 200 ${safe(digest)};
  }
  server {
${listen.map((at) => `    listen ${safe(at)} default_server;\n`).join('')}    set $kubedoh_prefix "";
    return 404;
  }
${servers}}
`
  return { text, digest }
}

function temporaryFolders(folder: string): string {
  const lines = BODY_PATHS.map((name) => `  ${name}_temp_path ${safe(`${folder}/${name}`)};\n`)
  return lines.join('')
}

function formatServer({ host, routes }: TableHost, { listen }: NginxOptions): string {
  const hasRoot = routes.some(({ path }) => path === '/')
  const sorted = routes.map((route) => [orderOf(route), route] as const)
  sorted.sort(([a], [b]) => (a < b ? -1 : 1))
  const locations = sorted.map(([, route]) => formatRoute(route))
  if (!hasRoot) locations.push('    location / { return 404; }\n')
  return `  server {
${listen.map((at) => `    listen ${safe(at)};\n`).join('')}    server_name ${safe(host)};
${locations.join('')}  }
`
}

/**
 * Returns a text that sorts paths as nginx does, the slash first. nginx sorts by insertion, which
 * takes seconds for 4,000 paths in another order.
 */
function orderOf({ path }: TableRoute): string {
  return path.replaceAll('/', '\0')
}

/**
 * Returns the locations of a path. With a URI behind the address, nginx passes on the normalized
 * path with that URI in place of the location.
 */
function formatRoute({ path, backend }: TableRoute): string {
  if (backend === undefined) {
    if (path === '/') return '    location / { return 503; }\n'
    const at = safe(path)
    return `    location = ${at} { return 503; }\n    location ${at}/ { return 503; }\n`
  }
  const { address, port } = backend
  const to = safe(`http://${address.includes(':') ? `[${address}]` : address}:${port}`)
  if (path === '/') return `    location / { proxy_pass ${to}; }\n`
  const at = safe(path)
  // Other headers would replace those of the whole configuration: a variable is set instead.
  const pass = `set $kubedoh_prefix ${at}; proxy_pass ${to}/;`
  return `    location = ${at} { ${pass} }\n    location ${at}/ { ${pass} }\n`
}

function safe(text: string): string {
  if (SAFE.test(text)) return text
  throw new TypeError(`not for a configuration: ${JSON.stringify(text.slice(0, 80))}`)
}
