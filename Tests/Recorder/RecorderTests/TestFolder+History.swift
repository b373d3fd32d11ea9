import History
import TestBench

extension TestFolder {
    var history: HistoryFolder { HistoryFolder(state: path) }
}
