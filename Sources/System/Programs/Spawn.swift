internal import CLinux
import Glibc

/// Starts a program. It gets only the named files, and no signal is blocked or ignored.
/// - Parameters:
///   - program: an absolute path.
///   - files: its standard input, output and error output.
///   - environment: all variables that it gets.
///   - leadsGroup: whether it leads a process group of its own, which can be killed with all its children.
/// - Returns: its process.
/// - Throws: `ChildError`: the code of posix_spawn(3).
package func spawn(
    _ program: String, _ arguments: [String], files: [Int32],
    environment: [String: String] = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"], leadsGroup: Bool = false
) throws(ChildError) -> Int32 {
    // Safe: all are made and destroyed here.
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, file) in files.enumerated() {
        unsafe posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
    }
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(files.count))
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    // Safe: the texts live until they are freed below, and both arrays end with nil.
    func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }
    var words = unsafe copies([program] + arguments)
    var variables = unsafe copies(environment.map { "\($0)=\($1)" })
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
    guard code == 0 else { throw ChildError(code: code) }
    return process
}
