/** Offers a file with this content to the browser. */
export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export function saveJson(name: string, content: object): void {
  saveAs(name, new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }))
}
