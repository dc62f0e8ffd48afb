/**
 * The entry point of the container image. A command line that starts with a flag, or an empty one,
 * is CoreDNS's and means `serve`: a manifest of CoreDNS works when only its `image:` changes.
 * @module
 */
const [first = '-'] = process.argv.slice(2)
if (first.startsWith('-') && first !== '-h' && first !== '--help')
  process.argv.splice(2, 0, 'serve')
await import('./run.js')
