import DiskCalls
import FinishedTakes
import Glibc
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads) struct FolderOwnerTests {
    private let disk = TakesOnDisk()

    @Test func `who is not root stays who they are, and so does root in a folder of its own or in none`() {
        #expect(FolderOwner(of: disk.library, user: 1000) == nil)
        #expect(FolderOwner(of: "\(disk.path)/none", user: 0) == nil)
        guard geteuid() == 0 else { return }
        #expect(FolderOwner(of: disk.library, user: 0) == nil)
    }

    @Test(.enabled(if: geteuid() == 0)) func `root works as the user that the folder belongs to`() {
        chown(disk.library, 4321, 8765)
        let owner = FolderOwner(of: disk.library, user: 0)
        #expect(owner?.user == 4321)
        #expect(owner?.group == 8765)
    }

    @Test func `the groups are set first and the user last, while the rights for it are there`() throws {
        var done: [String] = []
        var calls = IdentityCalls()
        calls.setGroups = {
            done.append("groups of \($0), \($1)"); return 0
        }
        calls.setGroup = {
            done.append("group \($0)"); return 0
        }
        calls.setUser = {
            done.append("user \($0)"); return 0
        }
        try FolderOwner(user: 4321, group: 8765).become(calls)
        #expect(done == ["groups of 4321, 8765", "group 8765", "user 4321"])
    }

    @Test(arguments: 0..<3) func `a step that fails ends it with a sentence`(failing: Int) {
        var calls = IdentityCalls()
        var count = 0
        let step: () -> Int32 = {
            defer { count += 1 }
            errno = EPERM
            return count == failing ? -1 : 0
        }
        calls.setGroups = { _, _ in step() }
        calls.setGroup = { _ in step() }
        calls.setUser = { _ in step() }
        let error = #expect(throws: LibraryError.self) { try FolderOwner(user: 4321, group: 8765).become(calls) }
        #expect(count == failing + 1)
        #expect(
            error?.description
                == "library: cannot become user 4321: Operation not permitted: start it as the library's user")
    }
}
