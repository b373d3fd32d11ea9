import Glibc

/// The permissions of a file or folder, as octal digits.
func rights(_ path: String) -> String {
    var found = stat()
    precondition(stat(path, &found) == 0)
    return String(found.st_mode & 0o7777, radix: 8)
}
