/** Files as one ZIP archive without compression: pictures are compressed already. */

const TABLE = new Uint32Array(256).map((_, n) => {
  let value = n;
  for (let k = 0; k < 8; k++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** @param {Uint8Array} bytes */
function checksum(bytes) {
  let value = 0xffffffff;
  for (const one of bytes) value = TABLE[(value ^ one) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** @param {number[]} fields pairs of value and number of bytes */
function pack(fields) {
  const size = fields.filter((_, k) => k % 2).reduce((a, b) => a + b, 0);
  const view = new DataView(new ArrayBuffer(size));
  for (let k = 0, at = 0; k < fields.length; at += fields[k + 1], k += 2) {
    if (fields[k + 1] === 2) view.setUint16(at, fields[k], true);
    else view.setUint32(at, fields[k], true);
  }
  return new Uint8Array(view.buffer);
}

/**
 * @param {{name: string, file: Blob}[]} files
 * @returns {Promise<Blob>}
 */
export async function zip(files) {
  /** @type {BlobPart[]} */
  const parts = [];
  /** @type {BlobPart[]} */
  const directory = [];
  let offset = 0;
  let length = 0;
  for (const { name, file } of files) {
    const content = new Uint8Array(await file.arrayBuffer());
    const title = new TextEncoder().encode(name);
    const common = [0x0800, 2, 0, 2, 0, 2, 0x21, 2, checksum(content), 4, content.length, 4, content.length, 4, title.length, 2, 0, 2];
    const local = pack([0x04034b50, 4, 20, 2, ...common]);
    const entry = pack([0x02014b50, 4, 20, 2, 20, 2, ...common, 0, 2, 0, 2, 0, 2, 0, 4, offset, 4]);
    parts.push(local, title, content);
    directory.push(entry, title);
    offset += local.length + title.length + content.length;
    length += entry.length + title.length;
  }
  const end = pack([0x06054b50, 4, 0, 2, 0, 2, files.length, 2, files.length, 2, length, 4, offset, 4, 0, 2]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

/**
 * Files that were dropped, also those in folders, with their paths.
 * @param {DataTransfer} transfer
 * @returns {Promise<{name: string, file: File}[]>}
 */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((one) => one.webkitGetAsEntry?.()).filter((one) => one !== null && one !== undefined);
  if (!entries.length) return [...transfer.files].map((file) => ({ name: file.name, file }));
  /** @type {{name: string, file: File}[]} */
  const found = [];
  /** @param {FileSystemEntry} entry @param {string} path @returns {Promise<void>} */
  const walk = async (entry, path) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
      found.push({ name: path + entry.name, file });
      return;
    }
    const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
    for (;;) {
      /** @type {FileSystemEntry[]} */
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const one of some) await walk(one, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}
