/** Things kept in this browser (IndexedDB). Where it keeps nothing (a private window), every call resolves to null. */
export class BrowserStore {
  readonly #databaseName: string
  readonly #storeName: string
  readonly #keyPath: string | string[]
  #opened: Promise<IDBDatabase | null> | null = null

  /** @param databaseName of its own, so that none of them has versions to agree on */
  constructor(databaseName: string, storeName: string, keyPath: string | string[]) {
    this.#databaseName = databaseName
    this.#storeName = storeName
    this.#keyPath = keyPath
  }

  /** @param work is given the store @returns its result, once the transaction is done @throws Error on a full disk */
  async run<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
    this.#opened ??= this.#open()
    const database = await this.#opened
    if (database === null) return null
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(this.#storeName, mode)
      const asked = work(transaction.objectStore(this.#storeName))
      const fail = () => reject(transaction.error ?? new Error('The browser did not keep it.'))
      transaction.oncomplete = () => resolve(asked.result)
      transaction.onerror = fail
      transaction.onabort = fail
    })
  }

  #open(): Promise<IDBDatabase | null> {
    return new Promise((resolve) => {
      const asked = indexedDB.open(this.#databaseName, 1)
      asked.onupgradeneeded = () => asked.result.createObjectStore(this.#storeName, { keyPath: this.#keyPath })
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => resolve(null)
    })
  }
}
