import Glibc
import Takes
import Testing

@Suite struct SystemErrorTests {
    @Test func `an error is the system's text for its code, also an unknown one`() {
        #expect("\(SystemError(ENOENT))" == "No such file or directory")
        #expect("\(SystemError(5000))" == "Unknown error 5000")
    }
}
