/** What the pages of the documentation do beside being read: search, choose a language, copy, and make calls. Each page is whole without it. */

import { prepare, search } from './search.js'

const sorts = {
  operation: 'Operations',
  object: 'Objects',
  field: 'Fields and parameters',
  event: 'Events',
  error: 'Errors',
  guide: 'Guides and reference',
}

/** An element with these properties and children; text is text. */
function make(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key in element && key !== 'role') element[key] = value
    else element.setAttribute(key, value)
  }
  element.append(...children)
  return element
}

// --- Search: the index comes once, when somebody begins, and everything else happens here.

let index = null

function entriesOfIndex() {
  index ??= fetch('/docs/search.json')
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`${answer.status}`))))
    .then(prepare)
    .catch((error) => {
      index = null
      throw error
    })
  return index
}

function createFinder() {
  const input = make('input', {
    type: 'search',
    placeholder: 'Operations, fields, events, errors, guides',
    spellcheck: false,
    autocomplete: 'off',
    role: 'combobox',
    'aria-label': 'Search the documentation',
    'aria-expanded': 'false',
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
  })
  const list = make('div', { id: 'found', role: 'listbox', 'aria-label': 'Found', hidden: true })
  const said = make('p', { className: 'quiet', role: 'status' })
  const dialog = make('dialog', { className: 'finder', 'aria-label': 'Search' }, input, said, list)
  let chosen = 0
  /** Keys mean what is found for the words that are there, also while the index is on its way. */
  let shown = Promise.resolve()

  const options = () => [...list.querySelectorAll('a')]

  function choose(place) {
    const all = options()
    if (all.length === 0) {
      input.removeAttribute('aria-activedescendant')
      return
    }
    chosen = (place + all.length) % all.length
    for (const [n, option] of all.entries()) option.setAttribute('aria-selected', String(n === chosen))
    input.setAttribute('aria-activedescendant', all[chosen].id)
    all[chosen].scrollIntoView({ block: 'nearest' })
  }

  function show() {
    shown = draw()
  }

  async function draw() {
    if (list.hidden) said.textContent = 'Looking…'
    let groups = []
    let words = 'Type to search. The arrow keys choose, Enter opens.'
    try {
      const entries = await entriesOfIndex()
      groups = search(entries, input.value)
      if (groups.length === 0 && input.value.trim() !== '') {
        words = `Nothing has “${input.value.trim()}”. Try fewer words, or the beginning of one.`
      } else if (groups.length > 0) words = ''
    } catch {
      words = 'The index did not come. The list at the side has every page.'
    }
    let number = 0
    list.replaceChildren(
      ...groups.map(([sort, matches]) =>
        make(
          'div',
          { role: 'group', 'aria-label': sorts[sort] },
          make('p', { 'aria-hidden': 'true' }, sorts[sort]),
          ...matches.map(({ entry }) =>
            make(
              'a',
              {
                id: `found-${number++}`,
                role: 'option',
                tabIndex: -1,
                href: entry.address,
                'aria-selected': 'false',
              },
              make('span', { className: 'what' }, entry.title),
              make('span', { className: 'quiet' }, entry.about),
            ),
          ),
        ),
      ),
    )
    said.textContent = words
    said.hidden = words === ''
    list.hidden = groups.length === 0
    input.setAttribute('aria-expanded', String(groups.length > 0))
    choose(0)
  }

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const step = event.key === 'ArrowDown' ? 1 : -1
      void shown.then(() => choose(chosen + step))
    } else if (event.key === 'Escape') {
      // At once: the first would clear the words.
      event.preventDefault()
      dialog.close()
    } else if (event.key === 'Enter') {
      event.preventDefault()
      void shown.then(() => options()[chosen]?.click())
    }
  })
  dialog.addEventListener('click', (event) => {
    // The ground beside it, or something that was found on this very page.
    if (event.target === dialog || event.target.closest('a') !== null) dialog.close()
  })
  document.body.append(dialog)
  return () => {
    if (!dialog.open) dialog.showModal()
    input.select()
    show()
  }
}

let openFinder = null

function seek() {
  openFinder ??= createFinder()
  openFinder()
}

document.querySelector('[data-seek]')?.addEventListener('click', seek)
document.addEventListener('keydown', (event) => {
  const writes = event.target.closest?.('input, textarea, select, [contenteditable]') !== null
  const isSlash = event.key === '/' && !writes && !event.ctrlKey && !event.metaKey && !event.altKey
  const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
  if (!isSlash && !isCommand) return
  event.preventDefault()
  seek()
})

// --- The list at the side begins where the page stands in it.

const side = document.querySelector('#navigation')
const here = side?.querySelector('[aria-current]')
if (here != null && here.offsetTop > side.clientHeight - 80)
  side.scrollTop = here.offsetTop - side.clientHeight / 2

// --- Samples: the language that was chosen last, and what copies them.

const kept = 'deskwire.language'

function remembered() {
  try {
    return localStorage.getItem(kept)
  } catch {
    return null
  }
}

for (const choice of document.querySelectorAll('input[name=language]')) {
  if (choice.value === remembered()) choice.checked = true
  choice.addEventListener('change', () => {
    try {
      localStorage.setItem(kept, choice.value)
    } catch {
      // Not kept, then.
    }
  })
}

async function copy(pre) {
  const text = pre.textContent
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  // Pages that came over plain HTTP have no clipboard but this one.
  getSelection().selectAllChildren(pre)
  if (!document.execCommand('copy')) throw new Error('refused')
  getSelection().removeAllRanges()
}

function addCopyButton(pre) {
  const button = make(
    'button',
    { type: 'button', className: 'copy', 'aria-label': `Copy: ${pre.getAttribute('aria-label') ?? 'code'}` },
    'Copy',
  )
  button.addEventListener('click', async () => {
    button.textContent = await copy(pre).then(
      () => 'Copied',
      () => 'Press Ctrl+C',
    )
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  const frame = make('div', { className: 'code' })
  pre.replaceWith(frame)
  frame.append(pre, button)
}

for (const pre of document.querySelectorAll('main pre')) addCopyButton(pre)

// --- Calls from the page. The key stays in the tab, where the console keeps it too, and is sent to this service alone.

const keyName = 'deskwire.key'

function keyField(form) {
  const field = form.querySelector('[data-key]')
  if (field === null) return
  field.value = sessionStorage.getItem(keyName) ?? ''
  field.addEventListener('change', () => sessionStorage.setItem(keyName, field.value.trim()))
}

/** What the form says to send. */
function requestOf(form) {
  let path = form.dataset.path
  const query = new URLSearchParams()
  const headers = {}
  for (const { name, value, dataset } of form.querySelectorAll('[data-in]')) {
    if (value === '') continue
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value.trim()))
    else if (dataset.in === 'query') query.set(name, value)
    else headers[name] = value
  }
  const key = form.querySelector('[data-key]')?.value.trim()
  if (key) headers.authorization = `Bearer ${key}`
  const body = form.querySelector('[data-body]')?.value.trim()
  if (body) headers['content-type'] = 'application/json'
  const address = query.size === 0 ? path : `${path}?${query}`
  return [address, { method: form.dataset.method.toUpperCase(), headers, ...(body ? { body } : {}) }]
}

const shownOfAnswer = 100_000

function pretty(text, mediaType) {
  if (/^application\/(?:problem\+)?json/.test(mediaType)) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2)
    } catch {
      // As it came.
    }
  }
  return text.length > shownOfAnswer
    ? `${text.slice(0, shownOfAnswer)}\n… ${text.length - shownOfAnswer} more`
    : text
}

async function send(form, outcome) {
  const button = form.querySelector('button')
  button.disabled = true
  const begun = performance.now()
  try {
    const [address, init] = requestOf(form)
    const answer = await fetch(address, init)
    const text = await answer.text()
    const took = Math.round(performance.now() - begun)
    const good = answer.status < 400
    const shown = make(
      'pre',
      { tabIndex: 0, 'aria-label': 'The answer' },
      pretty(text, answer.headers.get('content-type') ?? ''),
    )
    outcome.replaceChildren(
      make(
        'p',
        {},
        make('span', { className: good ? 'status good' : 'status' }, String(answer.status)),
        ` ${answer.statusText} in ${took} ms`,
      ),
      ...(text === '' ? [] : [shown]),
    )
    if (text !== '') addCopyButton(shown)
  } catch (error) {
    outcome.replaceChildren(make('p', {}, `Nothing was answered: ${error.message}`))
  } finally {
    button.disabled = false
  }
}

for (const form of document.querySelectorAll('form[data-try]')) {
  keyField(form)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form, form.parentElement.querySelector('[data-outcome]'))
  })
}
