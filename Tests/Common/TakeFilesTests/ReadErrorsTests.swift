import Files
import Glibc
import Testing

@testable import TakeFiles

struct ReadErrorsTests {
    @Test func `each error is returned once, in the order in which it was met`() {
        let errors = ReadErrors()
        let (a, b) = (FileError("open", "/a", code: EIO), FileError("open", "/b", code: EIO))
        #expect(errors.takeNews() == [])
        errors.note([b, a, b])
        errors.note([a])
        #expect(errors.takeNews() == [b, a])
        errors.note([a, b, FileError("list", "/a", code: EIO)])
        #expect(errors.takeNews() == [FileError("list", "/a", code: EIO)])
        #expect(errors.takeNews() == [])
    }
}
