/**
 * Web pages that servers send: documents with a strict content security policy, and the guard of a page that belongs to the
 * person who started its server. `parts` has what all pages are made of, in the browser: style, elements, tables, forms,
 * dialogs, requests and live updates.
 */
export {loadPage, type WebPage} from './page.js'
export {type PageServer, servePage} from './page-server.js'
